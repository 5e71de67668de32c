import type { Interruption } from '../../../hack/bench/program/interruption.ts';
import { progressing, type Say } from '../../../hack/bench/program/progress.ts';
import { LiveClusters } from '../../../hack/bench/rollouts/live-cluster.ts';
import { StoreRecord } from '../../verification/chaos/store-record.ts';
import { openBed } from '../bed.ts';
import { Program } from './program.ts';
import type { Surroundings } from './reality-cluster.ts';

/** Starts a bed and this program on it, and ends everything again whatever becomes of `use`. */
export async function withSurroundings<T>(
  say: Say,
  { signal, race }: Interruption,
  use: (surroundings: Surroundings, program: Program) => Promise<T>,
): Promise<T> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const home = process.env['MYSQL_HOME'];
    const bed = await progressing(say, 'Starting Kubernetes and moco-controller on 127.0.0.1', () =>
      openBed(home === undefined ? {} : { mysqlHome: home }),
    );
    ends.push(() => bed.close());
    say(`mysqld: ${bed.mysql}`);
    signal.throwIfAborted();
    const { promise: broken, reject } = Promise.withResolvers<never>();
    broken.catch(() => undefined);
    const record = await StoreRecord.start(bed.client, reject);
    ends.push(() => record.stop());
    const clusters = new LiveClusters(bed.client, bed.world, []);
    ends.push(() => clusters.stop());
    const program = await Program.start(bed);
    signal.throwIfAborted();
    const raced = <R>(work: Promise<R>): Promise<R> => race(Promise.race([work, broken]));
    return await use({ bed, record, clusters, race: raced }, program);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}
