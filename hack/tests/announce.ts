import { existsSync } from 'node:fs';

// Prints what `make test` is about to build, and about how long that takes, before the first build begins.

/** What is built into `.cache` only once, and how many minutes the build takes on two cores. */
const parts = [
  {
    folder: 'control-plane',
    what: 'the control plane (etcd, kube-apiserver, kube-controller-manager, kubectl)',
    minutes: 6,
  },
  { folder: 'real-moco', what: 'moco-controller', minutes: 2 },
  { folder: 'go-tools', what: 'helm and glua', minutes: 2 },
  { folder: 'cluster', what: 'the programs of nodes (kubelet, containerd, runc, CoreDNS)', minutes: 4 },
  { folder: 'cluster-images', what: 'the images of MOCO and MySQL', minutes: 1 },
];

const missing = parts.filter(({ folder }) => !existsSync(`.cache/${folder}`));
if (missing.length > 0) {
  const minutes = missing.reduce((sum, part) => sum + part.minutes, 0);
  const lines = missing.map(({ what, minutes: own }) => `  ${what}: about ${own} min`);
  console.log(`To build before the tests, once, about ${minutes} min on two cores:\n${lines.join('\n')}`);
}
