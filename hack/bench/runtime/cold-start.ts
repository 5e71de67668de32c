import type { Guard } from '../../../test/support/control-plane/guard.ts';
import { MeasuredProcess } from './measured-process.ts';
import { bundle } from './variants.ts';

/** Seconds from the start of a process to each of these moments. */
export interface ColdStart {
  readonly synced: number;
  readonly firstDecision: number;
  /** The first decision about the last of all clusters. */
  readonly lastDecision: number;
}

const starts = 5;
/** Appears in the log line of a cluster with a new decision. The first decision of a cluster is always new. */
const anythingDecided = '"rule":';
const withEveryLine = '--log-level=debug';

/** Starts the program as the image does, several times, on a fleet that it has already adopted. */
export async function measureColdStarts(
  flags: readonly string[],
  clusters: number,
  guard: Guard,
): Promise<readonly ColdStart[]> {
  const measured: ColdStart[] = [];
  for (let times = 0; times < starts; times += 1) {
    const begun = performance.now();
    const since = (): number => (performance.now() - begun) / 1000;
    const process = new MeasuredProcess([...bundle.command, ...flags, withEveryLine], guard, bundle.environment);
    await process.logged('Cache is in sync');
    const synced = since();
    await process.logged(anythingDecided);
    const firstDecision = since();
    await process.logged(anythingDecided, clusters);
    measured.push({ synced, firstDecision, lastDecision: since() });
    await process.stop();
  }
  return measured;
}
