import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { percentile, spreadOf } from '../record/spread.ts';

// Measures time and allocations of one operation.

setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/** An operation to measure. Its setup for each sample is not measured. */
export interface Operation {
  readonly name: string;
  /**
   * How many times the operation runs in one sample. A sample must take at least a tenth of a second, because Linux
   * updates the processor time of a thread every 4 ms.
   */
  readonly times: number;
  /** Prepares one sample; calling the result runs the operation `times` times. */
  readonly prepare: () => () => void | Promise<void>;
}

/** The cost of one run. */
export interface Cost {
  /** Processor time of this thread, which does not depend on how busy the machine is; one value for each sample. */
  readonly nanoseconds: readonly number[];
  /** Bytes allocated on the heap, whether or not they were freed; one value for each sample. */
  readonly bytes: readonly number[];
}

const samples = 11;
const warmUpSamples = 3;
const nanosecondsPerMicrosecond = 1000;
const heapSamples = 5;

/** Measures time and allocations separately, because reading the size of the heap takes time. */
export async function costOf(operation: Operation): Promise<Cost> {
  const { times, prepare } = operation;
  const nanoseconds: number[] = [];
  for (let sample = -warmUpSamples; sample < samples; sample += 1) {
    const run = prepare();
    const before = process.threadCpuUsage();
    await run();
    const { user, system } = process.threadCpuUsage(before);
    if (sample >= 0) nanoseconds.push((nanosecondsPerMicrosecond * (user + system)) / times);
  }
  const bytes: number[] = [];
  for (let sample = 0; sample < heapSamples; sample += 1) bytes.push((await allocatedBy(prepare())) / times);
  return { nanoseconds, bytes };
}

/** Bytes by which the used heap has grown, plus those that were collected in the meantime. */
async function allocatedBy(run: () => void | Promise<void>): Promise<number> {
  const profiler = new GCProfiler();
  collectGarbage({ type: 'minor' });
  const before = getHeapStatistics().used_heap_size;
  profiler.start();
  await run();
  const after = getHeapStatistics().used_heap_size;
  const collected = profiler
    .stop()
    .statistics.map(
      ({ beforeGC, afterGC }) => beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
    );
  return after - before + collected.reduce((sum, bytes) => sum + bytes, 0);
}

/** Bytes that each run leaks, averaged over many runs. */
export async function keptOf({ times, prepare }: Operation): Promise<number> {
  const run = prepare();
  const used = async (): Promise<number> => {
    for (let sample = 0; sample < heapSamples; sample += 1) await run();
    collectGarbage();
    return getHeapStatistics().used_heap_size;
  };
  await used();
  const before = await used();
  return ((await used()) - before) / (times * heapSamples);
}

/** `2.1 µs (2.0 – 2.3)`: the median, and the range of nine in ten samples. */
export function timeOf({ nanoseconds }: Cost): string {
  const isShort = spreadOf(nanoseconds).median < nanosecondsPerMicrosecond;
  const one = isShort ? 1 : nanosecondsPerMicrosecond;
  const shown = (part: number): string => (percentile(nanoseconds, part) / one).toFixed(isShort ? 0 : 1);
  return `${shown(0.5)} ${isShort ? 'ns' : 'µs'} (${shown(0.05)} – ${shown(0.95)})`;
}

export function allocatedOf({ bytes }: Cost): string {
  return `${(spreadOf(bytes).median / 1000).toFixed(1)} kB`;
}
