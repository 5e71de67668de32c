import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { percentile } from '../record/spread.ts';

/** How busy the machine was, by everybody on it: shares from 0 to 1. */
export interface Use {
  /** What went on meanwhile. */
  readonly what: string;
  readonly mean: number;
  /** Of single seconds. */
  readonly p95: number;
  /** How busy this process's one thread was, in which the stand-ins for MOCO and nodes run. */
  readonly ownThread: number;
}

/** Above this, processes wait for a core, and times measure that rather than a rollout. */
const busyShare = 0.8;

export const isTooBusy = ({ mean }: Use): boolean => mean > busyShare;

export function inWords(use: Use): string {
  const { what, mean, p95, ownThread } = use;
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const shares = `${percent(mean)} of the CPU on average, ${percent(p95)} p95 of single seconds`;
  const busy = isTooBusy(use) ? '. The machine was too busy for the times to mean much' : '';
  return `${what}: ${shares}; the stand-ins' thread ${percent(ownThread)}${busy}`;
}

const sampleMilliseconds = 1000;

/** @param work is given what the share of the last second was */
export async function withMachineUse<T>(
  what: string,
  work: (share: () => number) => Promise<T>,
): Promise<{ readonly result: T; readonly use: Use }> {
  const machine = new MachineUse(what);
  try {
    const result = await work(() => machine.now);
    return { result, use: machine.use() };
  } finally {
    machine.stop();
  }
}

/** Looks at it every second. */
class MachineUse {
  readonly #what: string;
  readonly #shares: number[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #began = performance.eventLoopUtilization();
  #before = times();

  constructor(what: string) {
    this.#what = what;
    this.#timer = setInterval(() => {
      const now = times();
      this.#shares.push((now.busy - this.#before.busy) / (now.all - this.#before.all));
      this.#before = now;
    }, sampleMilliseconds);
  }

  /** Of the last second. */
  get now(): number {
    return this.#shares.at(-1) ?? 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  use(): Use {
    return {
      what: this.#what,
      mean: this.#shares.reduce((sum, share) => sum + share, 0) / this.#shares.length,
      p95: percentile(this.#shares, 0.95),
      ownThread: performance.eventLoopUtilization(this.#began).utilization,
    };
  }
}

/** In milliseconds. The capacity of the cores comes from the clock: Node does not report I/O wait. */
function times(): { readonly busy: number; readonly all: number } {
  const cores = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return { busy: cores.reduce((sum, one) => sum + one, 0), all: performance.now() * cores.length };
}
