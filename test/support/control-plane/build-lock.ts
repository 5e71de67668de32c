import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BuildProgress, type ProgressOutput } from './build-progress.ts';

const pauseMilliseconds = 100;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function holder(path: string): Promise<number | null> {
  try {
    return Number(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

async function tryToTake(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}

/**
 * Runs `work` while holding the file `path`, which names the process that holds it; one left behind by a process that
 * is gone is taken over.
 *
 * @param onWait told once, with the process id, when another process holds it
 * @param signal ends the waiting, not the work
 */
export async function withLock<T>(
  path: string,
  onWait: (pid: number) => void,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let reported = false;
  while (!(await tryToTake(path))) {
    const pid = await holder(path);
    // 0 is a holder that has created the file and not yet written its pid.
    const isNamed = pid !== null && pid !== 0;
    if (isNamed && !isAlive(pid)) {
      await rm(path, { force: true });
      continue;
    }
    if (isNamed && !reported) {
      reported = true;
      onWait(pid);
    }
    signal?.throwIfAborted();
    await delay(pauseMilliseconds);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

export interface Making {
  /** The path of what is made; its lock lies beside it. */
  readonly path: string;
  /** What others wait for, such as `builds helm`. */
  readonly doing: string;
  readonly isMade: () => Promise<boolean>;
  readonly make: (progress: BuildProgress) => Promise<void>;
  readonly output?: ProgressOutput | undefined;
  /** Ends the waiting, not the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Makes what is missing, once: a second process waits for the first, and says so. */
export async function makeOnce({ path, doing, isMade, make, output = process.stderr, signal }: Making): Promise<void> {
  if (await isMade()) return;
  await mkdir(dirname(path), { recursive: true });
  const progress = new BuildProgress(output);
  const onWait = (pid: number): void => progress.begin(`Waiting for process ${pid}, which ${doing}`);
  const work = async (): Promise<void> => {
    progress.end();
    if (!(await isMade())) await make(progress);
  };
  await withLock(`${path}.lock`, onWait, work, signal).finally(() => progress.end());
}
