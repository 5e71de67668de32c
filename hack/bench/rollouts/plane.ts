import type { Interruption } from '../program/interruption.ts';
import { progressing, type Say } from '../program/progress.ts';
import { withBenchStage } from './bench-stage.ts';
import { type Bench, prepare, type Result, runCell } from './cell.ts';
import type { BenchCluster } from './cluster.ts';
import { LiveClusters } from './live-cluster.ts';
import type { Cell } from './matrix.ts';
import type { Measured } from './results.ts';
import { Turns } from './turns.ts';
import type { Setting } from './way.ts';

/** How many members restart a second at most: with more of them the machine itself would be what is measured. */
const mostRestartsASecond = 0.9;
/** How many clusters are created concurrently. */
const mostPreparing = 4;
/** Members start quickly while a cluster is created. */
const creationRestartMilliseconds = 300;

/** Measures cells side by side on a control plane of their own. */
export async function measurePlane(
  { stage }: Setting,
  cells: readonly Cell[],
  say: Say,
  interrupted: Interruption,
): Promise<readonly Measured[]> {
  const settings = { restartMilliseconds: creationRestartMilliseconds, say, interruption: interrupted, ...stage };
  return withBenchStage(settings, async (demo) => {
    const failed = new AbortController();
    const bench: Bench = {
      demo,
      clusters: new LiveClusters(demo.stage.client, demo.stage.world, []),
      preparing: new Turns(mostPreparing),
      starting: new Turns(1),
      rolling: new Turns(mostRestartsASecond),
      signal: AbortSignal.any([interrupted.signal, failed.signal]),
    };
    let [made, rolled] = [0, 0];
    const make = async (cell: Cell): Promise<BenchCluster> => {
      const cluster = await prepare(bench, cell);
      made += 1;
      return cluster;
    };
    const rollOut = async (cell: Cell, cluster: BenchCluster): Promise<Result> => {
      const result = await runCell(bench, cell, cluster);
      rolled += 1;
      return result;
    };
    try {
      // All before the first rollout: creating a cluster would slow down concurrent rollouts.
      const clusters = await progressing(
        say,
        'Making clusters',
        () => demo.race(Promise.all(cells.map(make))),
        () => `: ${made} of ${cells.length} done`,
      );
      const results = await progressing(
        say,
        'Rolling out',
        () => demo.race(Promise.all(clusters.map((cluster, index) => rollOut(cells[index] as Cell, cluster)))),
        () => `: ${rolled} of ${cells.length} done, ${bench.rolling.running} side by side`,
      );
      return cells.flatMap((cell, index): Measured[] => {
        const result = results[index];
        return result === undefined ? [] : [{ cell, result }];
      });
    } finally {
      failed.abort();
      await bench.clusters.stop();
    }
  });
}
