import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeCgroups } from './cgroups.ts';

/** Gone after a reboot, as clusters are. */
const directory = '/run/moco-rollout-clusters';

/** A cluster that has been started on this machine. */
export interface ClusterRecord {
  readonly id: string;
  /** With everything that it has on disk. */
  readonly directory: string;
  /** Of the process that has started it. */
  readonly pid: number;
  /** When that process began, in the kernel's ticks since it booted: a process id is given again. */
  readonly began: string;
  /** What `make cluster-stop` ends: started for a person, in this directory. */
  readonly openedIn: string | null;
}

/** Remembers a cluster until {@link forget}, beyond the end of this process. */
export async function record(id: string, of: Pick<ClusterRecord, 'directory' | 'openedIn'>): Promise<void> {
  await mkdir(directory, { recursive: true });
  const written: ClusterRecord = { id, ...of, pid: process.pid, began: (await beginOf(process.pid)) ?? '' };
  const unfinished = `${directory}.${id}`;
  await writeFile(unfinished, JSON.stringify(written));
  await rename(unfinished, join(directory, id));
}

/** All that has been started here and not been forgotten. */
export async function records(): Promise<readonly ClusterRecord[]> {
  const names = await readdir(directory).catch(() => []);
  const found: ClusterRecord[] = [];
  for (const name of names) {
    const text = await readFile(join(directory, name), 'utf8').catch(() => '');
    if (text !== '') found.push(JSON.parse(text) as ClusterRecord);
  }
  return found;
}

export async function isStarterAlive({ pid, began }: ClusterRecord): Promise<boolean> {
  return (await beginOf(pid)) === began;
}

/** Removes what a cluster has left whose processes have ended. */
export async function forget({ id, directory: own }: Pick<ClusterRecord, 'id' | 'directory'>): Promise<void> {
  await removeCgroups(`${id}-`);
  await rm(own, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  await rm(join(directory, id), { force: true });
  // Stays while it has others.
  await rmdir(directory).catch(() => undefined);
}

/** Removes what clusters have left whose starter was killed: their processes have ended with it. */
export async function forgetTheDead(): Promise<void> {
  for (const one of await records()) if (!(await isStarterAlive(one))) await forget(one);
}

/** `null`: there is no such process. */
async function beginOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name before may have spaces and parentheses; the state follows it, and 19 fields later the begin.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}
