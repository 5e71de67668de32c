import type { Guard } from '../../../test/support/control-plane/guard.ts';
import { MeasuredProcess } from './measured-process.ts';
import { bundle } from './variants.ts';

/** Seconds from the start of a process. */
export interface ColdStart {
  readonly synced: number;
  readonly firstDecision: number;
  /** Every cluster has been decided about. */
  readonly lastDecision: number;
}

const starts = 5;
/** On the line about a cluster that something new was decided of; the first decision always is. */
const anythingDecided = '"rule":';

/** Starts the image's program several times on a fleet that it has adopted already. */
export async function measureColdStarts(
  flags: readonly string[],
  clusters: number,
  guard: Guard,
): Promise<readonly ColdStart[]> {
  const measured: ColdStart[] = [];
  const start = (): MeasuredProcess => new MeasuredProcess([...bundle.command, ...flags], guard, bundle.environment);
  for (let times = 0; times < starts; times += 1) {
    const { process, coldStart } = await measureColdStart(start, anythingDecided, clusters);
    measured.push(coldStart);
    await process.stop();
  }
  return measured;
}

/** @param decided stands in the line that is logged at a cluster's first decision */
export async function measureColdStart(
  start: () => MeasuredProcess | Promise<MeasuredProcess>,
  decided: string,
  clusters: number,
): Promise<{ readonly process: MeasuredProcess; readonly coldStart: ColdStart }> {
  const begun = performance.now();
  const since = (): number => (performance.now() - begun) / 1000;
  const process = await start();
  await process.logged('the cache is in sync');
  const synced = since();
  await process.logged(decided);
  const firstDecision = since();
  await process.logged(decided, clusters);
  return { process, coldStart: { synced, firstDecision, lastDecision: since() } };
}
