import { once } from 'node:events';
import { controlPlaneBinaries } from './build.ts';
import { startControlPlane } from './control-plane.ts';

const usage = `Usage: node test/support/control-plane/main.ts build|run

  build   builds etcd, kubectl, kube-apiserver and kube-controller-manager, once
  run     starts them on loopback until Ctrl-C

KUBEBUILDER_ASSETS names a directory with binaries to use instead of building.
`;

const usageExitCode = 2;

async function build(): Promise<void> {
  for (const path of Object.values(await controlPlaneBinaries())) {
    process.stdout.write(`${path}\n`);
  }
}

async function runUntilStopped(): Promise<void> {
  process.stderr.write('Starting etcd, kube-apiserver and kube-controller-manager on 127.0.0.1 ...\n');
  const controlPlane = await startControlPlane();
  process.stdout.write(
    [
      `The API server answers at ${controlPlane.server}. In another terminal:`,
      '',
      `  export KUBECONFIG=${controlPlane.adminKubeconfig}`,
      `  ${controlPlane.binaries.kubectl} get --raw /readyz`,
      '',
      `Logs and the audit log are in ${controlPlane.directory}. Ctrl-C stops everything and removes it.`,
      '',
    ].join('\n'),
  );
  // The servers alone don't keep this program alive.
  const alive = setInterval(() => undefined, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
  await controlPlane.stop();
}

const [command, ...rest] = process.argv.slice(2);
try {
  if (command === 'build' && rest.length === 0) {
    await build();
  } else if (command === 'run' && rest.length === 0) {
    await runUntilStopped();
  } else {
    process.stderr.write(usage);
    process.exitCode = usageExitCode;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
