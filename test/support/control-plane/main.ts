import { controlPlaneBinaries } from './build.ts';

// Builds etcd, kubectl, kube-apiserver and kube-controller-manager, once. KUBEBUILDER_ASSETS names a directory with
// binaries to use instead of building.

try {
  for (const path of Object.values(await controlPlaneBinaries())) process.stdout.write(`${path}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
