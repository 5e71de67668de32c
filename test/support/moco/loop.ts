import type PQueue from 'p-queue';
import { delay } from '../../../src/kube/delay.ts';
import type { World } from '../../../src/kube/world.ts';

const firstRetryMilliseconds = 20;
const longestRetryMilliseconds = 5_000;

export interface LoopOptions {
  /** The delay from a trigger to the run, which batches further triggers. */
  readonly delayMilliseconds?: number;
  /** Whose turn it waits for, together with other loops. */
  readonly workers?: PQueue;
}

/**
 * Runs a function on a trigger, and again after the delay that the last run returned; never concurrently. A run
 * replaces the delay of an earlier one, as in controller-runtime's queue with one entry for each key. A failed run is
 * retried with a growing delay.
 */
export class Loop {
  readonly #world: World;
  readonly #run: () => Promise<number | null>;
  readonly #onError: (error: unknown) => void;
  readonly #delayMilliseconds: number;
  readonly #workers: PQueue | null;
  readonly #stopping = new AbortController();
  #cancelTimer: () => void = () => undefined;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #failures = 0;

  constructor(
    world: World,
    run: () => Promise<number | null>,
    onError: (error: unknown) => void,
    { delayMilliseconds = 0, workers }: LoopOptions = {},
  ) {
    this.#delayMilliseconds = delayMilliseconds;
    this.#workers = workers ?? null;
    this.#world = world;
    this.#run = run;
    this.#onError = onError;
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
    if (this.#delayMilliseconds > 0) {
      if (!(await delay(this.#world, this.#delayMilliseconds, this.#stopping.signal))) {
        return;
      }
      this.#again = false;
    }
    let again: number | null;
    try {
      again = await this.#inItsTurn();
      this.#failures = 0;
    } catch (error) {
      this.#onError(error);
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
    if (this.#workers === null) return this.#run();
    return this.#workers.add(async () => {
      // Triggers while it waited belong to this run.
      this.#again = false;
      return this.#stopped ? null : this.#run();
    });
  }
}
