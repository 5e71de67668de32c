import { access, constants, readFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { geteuid } from 'node:process';

const programs = ['unshare', 'mount', 'chroot', 'hostname', 'dpkg', 'openssl', 'go'] as const;
const gigabyte = 1024 ** 3;
const fewMembers = 3;
/** mysqld takes up to 590 MB; what is around it 500 MB. */
const neededGigabytes = { few: 3, more: 5 };

/** What has to be known of a machine to say whether real members can run on it. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly isRoot: boolean;
  /** Of the programs that are needed, those that are not in PATH. */
  readonly missingPrograms: readonly string[];
  readonly availableBytes: number;
  /** A MySQL of the user's own is used instead of Debian's. */
  readonly hasMysqlHome: boolean;
}

/** A sentence on what keeps this machine from running that many members at once, or `null`. */
export async function whatIsMissing(members: number): Promise<string | null> {
  return missingOn(await thisMachine(), members);
}

export function missingOn(machine: Machine, members: number): string | null {
  const { missingPrograms, availableBytes } = machine;
  if (machine.platform !== 'linux') {
    return `Expected Linux, whose namespaces separate the members from each other, got ${machine.platform}: run this on Linux`;
  }
  if (machine.arch !== 'x64' && !machine.hasMysqlHome) {
    return `Expected an x86-64 processor for Debian's MySQL with its changed names, got ${machine.arch}: set MYSQL_HOME to the directory of an unpacked MySQL 8.4`;
  }
  if (!machine.isRoot) {
    return 'Expected to run as root, who alone may mount and change the root directory of a process: run this with sudo';
  }
  const [missing] = missingPrograms;
  if (missing !== undefined) {
    return `Expected the programs ${programs.join(', ')} in PATH, found no ${missingPrograms.join(', ')}: install ${missing === 'go' ? 'Go from https://go.dev/dl' : 'them'}`;
  }
  const needed = members <= fewMembers ? neededGigabytes.few : neededGigabytes.more;
  if (availableBytes < needed * gigabyte) {
    const available = (availableBytes / gigabyte).toFixed(1);
    return `Expected ${needed} GB of free memory for ${members} members, found ${available} GB: end something else, or run fewer members`;
  }
  return null;
}

async function thisMachine(): Promise<Machine> {
  const found = await Promise.all(programs.map(isInPath));
  return {
    platform: platform(),
    arch: arch(),
    isRoot: geteuid?.() === 0,
    missingPrograms: programs.filter((_, index) => found[index] === false),
    availableBytes: await availableBytes(),
    hasMysqlHome: process.env['MYSQL_HOME'] !== undefined,
  };
}

async function isInPath(program: string): Promise<boolean> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const found = await access(join(directory, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}

async function availableBytes(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  return Number(/^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}
