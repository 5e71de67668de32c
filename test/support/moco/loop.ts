import type PQueue from 'p-queue';
import { delay } from '../../../src/base/delay.ts';
import type { World } from '../../../src/base/world.ts';

const firstRetryMilliseconds = 20;
const longestRetryMilliseconds = 5_000;

export interface LoopOptions {
  /** The delay from a trigger to the run, which batches further triggers. */
  readonly delayMilliseconds?: number;
  /** Whose turn it waits for, together with other loops. */
  readonly workers?: PQueue;
  /** Told why a run has failed. A stand-in needs none: it finds in its next run what is different now. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Runs a function on a trigger, and again after the delay that the last run returned; never concurrently. A run
 * replaces the delay of an earlier one, as in controller-runtime's queue with one entry for each key. A failed run is
 * retried with a growing delay.
 */
export class Loop {
  readonly #world: World;
  readonly #run: () => Promise<number | null>;
  readonly #options: LoopOptions;
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => undefined;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #failures = 0;

  constructor(world: World, run: () => Promise<number | null>, options: LoopOptions = {}) {
    this.#world = world;
    this.#run = run;
    this.#options = options;
  }

  trigger(): void {
    if (this.#stopped) {
      return;
    }
    if (this.#running !== null) {
      this.#again = true;
      return;
    }
    this.#cancelTimer();
    this.#running = this.#runOnce();
  }

  /** Resolves when no run is in progress and none will start any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#stopping.abort();
    await this.#running;
  }

  async #runOnce(): Promise<void> {
    // Triggers in the same turn belong to the same run.
    await Promise.resolve();
    const { delayMilliseconds = 0, onError } = this.#options;
    if (delayMilliseconds > 0) {
      if (!(await delay(this.#world, delayMilliseconds, this.#stopping.signal))) {
        return;
      }
      this.#again = false;
    }
    let again: number | null;
    try {
      again = await this.#inItsTurn();
      this.#failures = 0;
    } catch (error) {
      onError?.(error);
      again = Math.min(firstRetryMilliseconds * 2 ** this.#failures, longestRetryMilliseconds);
      this.#failures += 1;
    }
    this.#running = null;
    if (this.#again) {
      this.#again = false;
      this.trigger();
    } else if (again !== null && !this.#stopped) {
      this.#cancelTimer = this.#world.timer(again, () => this.trigger());
    }
  }

  async #inItsTurn(): Promise<number | null> {
    const { workers } = this.#options;
    if (workers === undefined) return this.#run();
    return workers.add(async () => {
      // Triggers while it waited belong to this run.
      this.#again = false;
      return this.#stopped ? null : this.#run();
    });
  }
}
