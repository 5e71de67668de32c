import type { Interruption } from '../../../hack/program/interruption.ts';
import { progressing, type Say } from '../../../hack/program/progress.ts';
import { History } from '../../cluster/rollout-history.ts';
import { type BedOptions, openBed } from '../bed.ts';
import { LiveClusters } from '../sight/live-cluster.ts';
import type { Surroundings } from './reality-cluster.ts';

/** Opens a bed, and ends everything again whatever becomes of `use`. */
export async function withSurroundings<T>(
  say: Say,
  { signal, race }: Interruption,
  use: (surroundings: Surroundings) => Promise<T>,
  options: BedOptions = {},
): Promise<T> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const title = 'Starting Kubernetes with its nodes, and installing MOCO and moco-rollout';
    const bed = await progressing(say, title, () => openBed(options));
    ends.push(() => bed.close());
    say(`mysqld: ${bed.mysql}`);
    signal.throwIfAborted();
    const { promise: broken, reject } = Promise.withResolvers<never>();
    broken.catch(() => undefined);
    const history = await History.start(bed.client, reject);
    ends.push(() => history.stop());
    const clusters = new LiveClusters(bed.client, bed.world, []);
    ends.push(() => clusters.stop());
    signal.throwIfAborted();
    const raced = <R>(work: Promise<R>): Promise<R> => race(Promise.race([work, broken]));
    return await use({ bed, history, clusters, race: raced });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}
