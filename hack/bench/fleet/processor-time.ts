import { readFileSync } from 'node:fs';
import { processorSecondsOf } from '../runtime/measured-process.ts';

/** Process ids, by the names that the tables show. */
export type Pids = Readonly<Record<string, number>>;

/** Seconds of processor time: of each process since its start, and of the machine since a fixed moment. */
export interface ProcessorTime {
  readonly atMilliseconds: number;
  readonly seconds: Readonly<Record<string, number>>;
  /** The sum over all processors and all processes. */
  readonly machineSeconds: number;
}

/** Cores in use during a period: by each process, and by everything else on the machine. */
export interface Cores {
  readonly of: Readonly<Record<string, number>>;
  readonly others: number;
}

const ticksPerSecond = 100;
const idleFields = [3, 4];

/** Reads `/proc` (Linux). A process that has ended counts as zero. */
export function processorTime(pids: Pids): ProcessorTime {
  const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const fields = total.split(/\s+/).slice(1, 9).map(Number);
  const busy = fields.reduce((sum, ticks, index) => (idleFields.includes(index) ? sum : sum + ticks), 0);
  return {
    atMilliseconds: performance.now(),
    seconds: Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, secondsOf(pid)])),
    machineSeconds: busy / ticksPerSecond,
  };
}

export function coresBetween(before: ProcessorTime, after: ProcessorTime): Cores {
  const elapsed = (after.atMilliseconds - before.atMilliseconds) / 1000;
  const of = Object.fromEntries(
    Object.entries(after.seconds).map(([name, seconds]) => [name, (seconds - (before.seconds[name] ?? 0)) / elapsed]),
  );
  const ours = Object.values(of).reduce((sum, cores) => sum + cores, 0);
  return { of, others: Math.max(0, (after.machineSeconds - before.machineSeconds) / elapsed - ours) };
}

function secondsOf(pid: number): number {
  try {
    return processorSecondsOf(pid);
  } catch {
    return 0;
  }
}
