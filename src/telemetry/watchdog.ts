import type { HealthCheck } from './http-server.ts';

/** The parts of the world that a watchdog needs: a clock that never steps back, and timers. */
export interface WatchdogClock {
  /** Milliseconds since an arbitrary moment. */
  monotonic(): number;
  /** Calls back once. Returns a function that cancels the timer. */
  timer(delayMilliseconds: number, callback: () => void): () => void;
}

interface WatchdogOptions {
  readonly clock: WatchdogClock;
  /** Called once the event loop runs again, with the milliseconds for which it was blocked. */
  readonly onStall: (milliseconds: number) => void;
}

const beatMilliseconds = 1_000;
/** Far longer than a full list or a garbage collection takes. */
const stallMilliseconds = 1_000;
/**
 * After this time a lease with the default renew deadline is lost, so a program that only answers probes is of no use.
 */
const deadMilliseconds = 10_000;

/**
 * Checks once a second whether timers still fire. A loop that is blocked completely needs no watchdog: the program
 * stops answering its probes, and the kubelet notices. The watchdog is for a loop that still lets the program answer,
 * but runs its timers late. It reports afterwards how long the loop was blocked.
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

  /** Stops the watchdog. No timer is left. */
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
