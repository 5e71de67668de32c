import type { HealthCheck } from './health.ts';

/** As much of the world as a watchdog needs: a clock that never steps back, and timers. */
export interface WatchdogClock {
  /** Milliseconds since an arbitrary moment. */
  monotonic(): number;
  /** Calls back once. Returns a function that cancels it. */
  timer(delayMilliseconds: number, callback: () => void): () => void;
}

export interface WatchdogOptions {
  readonly clock: WatchdogClock;
  /** Told, in milliseconds, for how long nothing could run, once something can again. */
  readonly onStall: (milliseconds: number) => void;
}

const beatMilliseconds = 1_000;
/** Well beyond what listing everything or collecting garbage takes; others are served late from here on. */
const stallMilliseconds = 1_000;
/** By then a lease with the default renew deadline is lost, and whoever still answers probes is of no use. */
const deadMilliseconds = 10_000;

/**
 * Looks once a second whether timers still come. An event loop that stands still answers no probe at all, which the
 * kubelet notices by itself; this tells of one that answers but doesn't get to its timers, and says afterwards how long
 * it stood still.
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

  /** For `/healthz`. */
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
