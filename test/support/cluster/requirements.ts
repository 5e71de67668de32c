import { access, readdir, readFile } from 'node:fs/promises';
import { freemem, platform } from 'node:os';
import { geteuid } from 'node:process';
import { programInPath } from '../../program-in-path.ts';

/** With the Debian package that has each. */
const packages = {
  ip: 'iproute2',
  tc: 'iproute2',
  nft: 'nftables',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  mount: 'mount',
  tar: 'tar',
  openssl: 'openssl',
} as const;

/** A program of others can't be had or can't run on this machine. The message is a sentence for a person. */
export class Unavailable extends Error {}

const gigabyte = 1024 ** 3;
/** etcd, the API server, three nodes and three mysqld. */
const neededGigabytes = 4;
const cgroupRoot = '/sys/fs/cgroup';

/** What has to be known of a machine to say whether a cluster can run on it. */
export interface ClusterMachine {
  readonly platform: string;
  readonly isRoot: boolean;
  /** Of the programs that are needed, those that are not in PATH. */
  readonly missingPrograms: readonly (keyof typeof packages)[];
  /** Of the kernel's features, those that it lacks. */
  readonly missingFeatures: readonly string[];
  readonly availableBytes: number;
}

/**
 * A sentence on what keeps this machine from running a cluster with nodes, or `null`.
 *
 * @param gigabytes of memory that have to be free
 */
export async function whatClusterLacks(gigabytes = neededGigabytes): Promise<string | null> {
  return clusterLacksOn(await thisMachine(), gigabytes);
}

export function clusterLacksOn(machine: ClusterMachine, gigabytes = neededGigabytes): string | null {
  const { missingPrograms, missingFeatures, availableBytes } = machine;
  if (machine.platform !== 'linux') {
    return `Expected Linux, whose namespaces are the nodes of a cluster, got ${machine.platform}: run this on Linux`;
  }
  if (!machine.isRoot) {
    return 'Expected to run as root, who alone may make namespaces, mounts and cgroups: run this with sudo';
  }
  if (missingPrograms.length > 0) {
    const names = [...new Set(missingPrograms.map((name) => packages[name]))];
    return `Expected the programs ${missingPrograms.join(', ')} in PATH, found none: install them (on Debian: apt-get install ${names.join(' ')})`;
  }
  if (missingFeatures.length > 0) {
    return `Expected a kernel with ${missingFeatures.join(' and ')}, found none: run this on another machine`;
  }
  if (availableBytes < gigabytes * gigabyte) {
    const available = (availableBytes / gigabyte).toFixed(1);
    return `Expected ${gigabytes} GB of free memory for a cluster, found ${available} GB: end something else`;
  }
  return null;
}

async function thisMachine(): Promise<ClusterMachine> {
  const names = Object.keys(packages) as (keyof typeof packages)[];
  return {
    platform: platform(),
    isRoot: geteuid?.() === 0,
    missingPrograms: names.filter((name) => programInPath(name) === undefined),
    missingFeatures: platform() === 'linux' ? await missingFeatures() : [],
    availableBytes: freemem(),
  };
}

async function missingFeatures(): Promise<readonly string[]> {
  const fileSystems = await readFile('/proc/filesystems', 'utf8');
  const hasCgroups =
    (await exists(`${cgroupRoot}/cgroup.controllers`)) || (await namesIn(cgroupRoot)).includes('memory');
  return [
    ...(/\boverlay$/m.test(fileSystems) ? [] : ['the file system overlay']),
    ...(hasCgroups ? [] : [`cgroups with the controller memory in ${cgroupRoot}`]),
  ];
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
