import type { Clusters, FleetCluster } from './clusters.ts';

/**
 * Resolves once that is so of every one of them. Rejects with how many are missing when none of these changes for too
 * long.
 */
export async function every(
  clusters: Clusters,
  among: readonly FleetCluster[],
  isSo: (cluster: FleetCluster) => boolean,
  { what, onProgress = () => undefined }: Waiting,
): Promise<void> {
  const missing = new Map(among.filter((cluster) => !isSo(cluster)).map((cluster) => [keyOf(cluster), cluster]));
  if (missing.size === 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let lastChange = performance.now();
  const unsubscribe = clusters.onChange((cluster) => {
    const key = keyOf(cluster);
    if (!missing.has(key)) return;
    lastChange = performance.now();
    if (!isSo(cluster)) return;
    missing.delete(key);
    onProgress(cluster, missing.size);
    if (missing.size === 0) resolve();
  });
  const watchdog = setInterval(() => {
    if (performance.now() - lastChange < patienceMilliseconds) return;
    const [first = ''] = missing.keys();
    const seconds = patienceMilliseconds / 1000;
    reject(
      new Error(`Expected ${what}; ${missing.size} of ${among.length}, such as ${first}, are not after ${seconds} s`),
    );
  }, lookMilliseconds);
  try {
    await promise;
  } finally {
    clearInterval(watchdog);
    unsubscribe();
  }
}

export interface Waiting {
  /** The expected state, as the rest of a sentence after "expected". */
  readonly what: string;
  /** Told of each that is there, and how many are missing then. */
  readonly onProgress?: (cluster: FleetCluster, missing: number) => void;
}

/** A budget may stay closed for two minutes, and on two cores a thousand clusters move in waves. */
const patienceMilliseconds = 300_000;
const lookMilliseconds = 1000;

export const keyOf = ({ namespace, name }: FleetCluster): string => `${namespace}/${name}`;
