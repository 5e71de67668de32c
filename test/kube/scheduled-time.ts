import type * as fc from 'fast-check';

interface ScheduledTimer {
  readonly dueMilliseconds: number;
  readonly callback: () => void;
}

/**
 * One clock that all share, and timers that fire in whatever order fast-check's scheduler takes them in: late, as on a
 * busy or a stopped machine, and never early. A timer that fires takes the clock to its time.
 */
export class ScheduledTime {
  nowMilliseconds = 0;
  readonly #scheduler: fc.Scheduler;
  readonly #timers = new Set<ScheduledTimer>();

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  /** When each of those that are pending is due, the earliest first. */
  get due(): readonly number[] {
    return [...this.#timers].map(({ dueMilliseconds }) => dueMilliseconds).toSorted((a, b) => a - b);
  }

  /** Returns a function that cancels it. */
  timer(delayMilliseconds: number, callback: () => void): () => void {
    const timer = { dueMilliseconds: this.nowMilliseconds + delayMilliseconds, callback };
    this.#timers.add(timer);
    void this.#scheduler
      .schedule(Promise.resolve(), `timer due at ${timer.dueMilliseconds} ms`)
      .then(() => this.#fire(timer));
    return () => this.#timers.delete(timer);
  }

  /** Timers in the order of their times from here on, each followed by `settled`, until so much time has passed. */
  async inOrder(milliseconds: number, settled: () => Promise<void>): Promise<void> {
    const end = this.nowMilliseconds + milliseconds;
    await settled();
    for (;;) {
      const [next] = [...this.#timers].toSorted((a, b) => a.dueMilliseconds - b.dueMilliseconds);
      if (next === undefined || next.dueMilliseconds > end) break;
      this.#fire(next);
      await settled();
    }
    this.nowMilliseconds = Math.max(this.nowMilliseconds, end);
    await settled();
  }

  #fire(timer: ScheduledTimer): void {
    if (!this.#timers.delete(timer)) return;
    this.nowMilliseconds = Math.max(this.nowMilliseconds, timer.dueMilliseconds);
    timer.callback();
  }
}
