import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Binaries, controlPlaneBinaries, type NodeBinaries, nodeBinaries } from '../control-plane/build.ts';
import { goProgram } from '../go-tools/go-program.ts';

const module = fileURLToPath(new URL('programs/', import.meta.url));
const own = 'moco-rollout.io/test/support/cluster/programs';

const importPaths = {
  containerd: 'github.com/containerd/containerd/v2/cmd/containerd',
  'containerd-shim-runc-v2': 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
  ctr: 'github.com/containerd/containerd/v2/cmd/ctr',
  runc: 'github.com/opencontainers/runc',
  // Plugins of the Container Network Interface.
  bridge: 'github.com/containernetworking/plugins/plugins/main/bridge',
  loopback: 'github.com/containernetworking/plugins/plugins/main/loopback',
  'host-local': 'github.com/containernetworking/plugins/plugins/ipam/host-local',
  coredns: `${own}/coredns`,
  // What is in images.
  pause: `${own}/pause`,
  mysqld: `${own}/mysqld`,
} as const;

type OwnName = keyof typeof importPaths;

/** seccomp: pods ask for the profile of their runtime. Snapshots of other file systems need libraries. */
const tags = ['seccomp', 'no_btrfs', 'no_devmapper', 'no_zfs'];

/** Absolute paths. */
export type ClusterPrograms = Binaries &
  NodeBinaries &
  Readonly<Record<OwnName, string>> & {
    /** Where containerd finds the programs that it starts, and the plugins. */
    readonly directory: string;
  };

/**
 * Every program of a cluster, built from the modules that go.mod pins unless it has been before. Throws a sentence when Go
 * or a C compiler is missing or fails.
 */
export async function clusterPrograms(): Promise<ClusterPrograms> {
  const kubernetes = { ...(await controlPlaneBinaries()), ...(await nodeBinaries()) };
  const built = {} as Record<OwnName, string>;
  for (const name of Object.keys(importPaths) as OwnName[]) {
    // runc enters namespaces in C, before Go has threads.
    const cgo = name === 'runc';
    built[name] = await goProgram({ name, importPath: importPaths[name], module, cache: 'cluster', tags, cgo });
  }
  return { ...kubernetes, ...built, directory: dirname(built.containerd) };
}
