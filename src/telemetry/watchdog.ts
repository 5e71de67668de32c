import type { HealthCheck } from './http-server.ts';

/** The parts of the world that a watchdog needs: a clock that never steps back, and timers. */
export interface WatchdogClock {
  /** Milliseconds since an arbitrary moment. */
  monotonic(): number;
  /** Calls back once. Returns a function that cancels it. */
  timer(delayMilliseconds: number, callback: () => void): () => void;
}

interface WatchdogOptions {
  readonly clock: WatchdogClock;
  /** Called with the milliseconds for which the event loop was blocked, once it runs again. */
  readonly onStall: (milliseconds: number) => void;
}

const beatMilliseconds = 1_000;
/** Well above what a full list or a garbage collection takes. */
const stallMilliseconds = 1_000;
/**
 * After this time a lease with the default renew deadline is lost, and a process that still answers probes is of no
 * use.
 */
const deadMilliseconds = 10_000;

/**
 * Checks once a second whether timers still fire. A blocked event loop answers no probe at all, which the
 * kubelet notices by itself; this detects one that answers but is late with its timers, and reports afterwards how long
 * it was blocked.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #beatAtMilliseconds: number;
  #cancel: () => void = () => {};

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#beatAtMilliseconds = options.clock.monotonic();
    this.#next();
  }

  readonly check: HealthCheck = () => {
    const sinceMilliseconds = this.#sinceBeatMilliseconds();
    if (sinceMilliseconds < deadMilliseconds) return null;
    return `expected a timer every ${beatMilliseconds} ms, the last one came ${Math.round(sinceMilliseconds)} ms ago`;
  };

  /** Leaves no timer behind. */
  stop(): void {
    this.#cancel();
  }

  #next(): void {
    this.#cancel = this.#options.clock.timer(beatMilliseconds, () => this.#beat());
  }

  #beat(): void {
    const lateMilliseconds = this.#sinceBeatMilliseconds() - beatMilliseconds;
    this.#beatAtMilliseconds = this.#options.clock.monotonic();
    this.#next();
    if (lateMilliseconds >= stallMilliseconds) this.#options.onStall(lateMilliseconds);
  }

  #sinceBeatMilliseconds(): number {
    return this.#options.clock.monotonic() - this.#beatAtMilliseconds;
  }
}
