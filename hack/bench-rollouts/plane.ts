import { withDemoStage } from '../demo/demo-stage.ts';
import type { Interruption } from '../demo/interruption.ts';
import { LiveClusters } from '../demo/live-cluster.ts';
import type { Output } from '../demo/output.ts';
import { progressing } from '../demo/progress.ts';
import { type Bench, type Result, runCell } from './cell.ts';
import { MachineUse, type Use } from './machine-use.ts';
import type { Cell } from './matrix.ts';
import type { Measured } from './results.ts';
import { Turns } from './turns.ts';
import type { Setting } from './way.ts';
import { countWrites } from './write-count.ts';

/** How many members restart a second at most: with more of them the machine itself would be what is measured. */
const mostRestartsASecond = 1.25;
/** Clusters that are being made, or wait for their turn. */
const mostPreparing = 2;
/** While a cluster is made its members needn't take their time. */
const creationRestartMilliseconds = 300;

/** Measures cells side by side on a control plane of their own. */
export async function measurePlane(
  { name, stage }: Setting,
  cells: readonly Cell[],
  output: Output,
  interrupted: Interruption,
): Promise<{ readonly measured: readonly Measured[]; readonly use: Use }> {
  const settings = { restartMilliseconds: creationRestartMilliseconds, output, interruption: interrupted, ...stage };
  // Bodies would fill the disk: only who wrote what, and when, is asked.
  const audit = { writes: 'Metadata', reads: 'None', controllerManager: 'Metadata' } as const;
  return withDemoStage({ ...settings, audit }, async (demo) => {
    const failed = new AbortController();
    const bench: Bench = {
      demo,
      clusters: new LiveClusters(demo.stage.client, demo.stage.world, []),
      preparing: new Turns(mostPreparing),
      rolling: new Turns(mostRestartsASecond),
      signal: AbortSignal.any([interrupted.signal, failed.signal]),
    };
    const use = new MachineUse(name);
    try {
      const results = await progressing(output, 'Rolling out', ...measuring(bench, cells, use));
      const writes = await countWrites(demo.controlPlane, results);
      const measured = cells.flatMap((cell, index): Measured[] => {
        const [result, count] = [results[index], writes[index]];
        return result === undefined || count === undefined ? [] : [{ cell, result, writes: count }];
      });
      return { measured, use: use.end() };
    } finally {
      failed.abort();
      use.end();
      await bench.clusters.stop();
    }
  });
}

/** What is done, and how far it is. */
function measuring(bench: Bench, cells: readonly Cell[], use: MachineUse): [() => Promise<Result[]>, () => string] {
  let done = 0;
  const measure = async (cell: Cell): Promise<Result> => {
    const result = await runCell(bench, cell);
    done += 1;
    return result;
  };
  const sideBySide = (): string => `${done} of ${cells.length} done, ${bench.rolling.running} side by side`;
  return [
    () => bench.demo.race(Promise.all(cells.map(measure))),
    () => `: ${sideBySide()}, ${Math.round(use.now * 100)} % of the CPU`,
  ];
}
