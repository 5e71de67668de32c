import { type FSWatcher, watch } from 'node:fs';
import { CertificateError } from './certificate.ts';

export interface FollowedFiles<T> {
  /** Where the files lie. */
  readonly directory: string;
  /** Rejects with a `CertificateError` where there is nothing to use. */
  readonly read: () => Promise<T>;
  /** What is in use, so that only something else is a change. */
  readonly current: T;
  readonly isSame: (one: T, other: T) => boolean;
  readonly onChange: (found: T) => void;
  /** The files changed into something that can't be used; what is in use stays. */
  readonly onProblem: (problem: CertificateError) => void;
  /** How often to check although nothing was heard: some file systems tell nothing. */
  readonly pollMilliseconds: number;
}

/**
 * Reads files again while kubelet or cert-manager replace them. kubelet swaps a symbolic link beside the files, so it
 * is the directory that is watched. Returns a function that ends it.
 */
export function followFiles<T>(options: FollowedFiles<T>): () => void {
  const { directory, read, isSame, onChange, onProblem, pollMilliseconds } = options;
  let { current } = options;
  let lastProblem: string | null = null;
  let reading = false;
  let changedMeanwhile = false;
  let ended = false;

  async function check(): Promise<void> {
    changedMeanwhile = reading;
    if (reading || ended) return;
    reading = true;
    const found = await attempt();
    reading = false;
    if (ended) return;
    if (changedMeanwhile) return check();
    if (found instanceof CertificateError) {
      if (found.message !== lastProblem) onProblem(found);
      lastProblem = found.message;
      return;
    }
    lastProblem = null;
    if (isSame(found.read, current)) return;
    current = found.read;
    onChange(current);
  }

  async function attempt(): Promise<{ readonly read: T } | CertificateError> {
    try {
      return { read: await read() };
    } catch (error) {
      return error instanceof CertificateError ? error : new CertificateError(String(error));
    }
  }

  const poll = setInterval(() => void check(), pollMilliseconds);
  poll.unref();
  const watcher = watchDirectory(directory, () => void check());
  void check();
  return () => {
    ended = true;
    clearInterval(poll);
    watcher?.close();
  };
}

/** `null` where the system has no watch to give; polling is left then. */
function watchDirectory(directory: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
