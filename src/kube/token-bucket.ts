import { Reservation } from './reservation.ts';
import type { World } from './world.ts';

/**
 * Whose calls go first when the API server may not be called as often as all would like to: keeping the lease, then
 * what confirms and does a disruption, then what is written about it, then the rest.
 */
export type Lane = 'lease' | 'disrupt' | 'status' | 'events' | 'read';

/** Lanes of equal rank share one queue, so that neither starves the other. */
const rankOfLane: Readonly<Record<Lane, number>> = { lease: 0, disrupt: 1, status: 2, events: 3, read: 3 };
const ranks = 4;

/** Whoever has waited for so long goes next, whatever its rank, so that no rank starves another. */
const longestStarvingMilliseconds = 1000;

/** A timer may fire a little before its time; asking again after less than this would be spinning. */
const shortestWaitMilliseconds = 1;

interface Waiter {
  readonly tokens: number;
  readonly sinceMilliseconds: number;
  readonly admit: () => void;
}

export interface TokenBucketOptions {
  readonly world: World;
  /** Calls a second in the long run. */
  readonly qps: number;
  /** Calls that may go at once after a quiet time. */
  readonly burst: number;
}

/**
 * Holds calls back to so many a second, the important ones first, in order within a rank. Keeping the lease always goes
 * first; of the rest whoever has waited for a second does. Counts on the monotonic clock: a step of the wall clock neither
 * opens nor closes it.
 */
export class TokenBucket {
  readonly #world: World;
  readonly #qps: number;
  readonly #burst: number;
  readonly #waiting: readonly Set<Waiter>[] = Array.from({ length: ranks }, () => new Set());
  #tokens: number;
  #countedAt: number;
  #cancelTimer: (() => void) | null = null;

  constructor({ world, qps, burst }: TokenBucketOptions) {
    if (!(qps > 0)) throw new TypeError(`Expected \`qps\` to be a number above 0, got ${qps}`);
    if (!(burst >= 1)) throw new TypeError(`Expected \`burst\` to be a number from 1 up, got ${burst}`);
    this.#world = world;
    this.#qps = qps;
    this.#burst = burst;
    this.#tokens = burst;
    this.#countedAt = world.monotonic();
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Resolves to `true` once the call may go, to `false` when the signal is aborted before. With `tokens` so many calls may
   * go at once. More of them than the burst go when the bucket is full, and those after them wait for it.
   */
  take(lane: Lane, signal?: AbortSignal, tokens = 1): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const queue = this.#waiting[rankOfLane[lane]] as Set<Waiter>;
      const aborted = (): void => {
        queue.delete(waiter);
        this.#arm();
        resolve(false);
      };
      const waiter: Waiter = {
        tokens,
        sinceMilliseconds: this.#world.monotonic(),
        admit: () => {
          queue.delete(waiter);
          signal?.removeEventListener('abort', aborted);
          resolve(true);
        },
      };
      queue.add(waiter);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#admit();
    });
  }

  /** Takes so many tokens before the calls that will need them; `null` when the signal is aborted before. */
  async reserve(lane: Lane, tokens: number, signal?: AbortSignal): Promise<Reservation | null> {
    if (!(await this.take(lane, signal, tokens))) return null;
    return new Reservation(tokens, (left) => this.#giveBack(left));
  }

  #giveBack(tokens: number): void {
    this.#count();
    this.#tokens = Math.min(this.#burst, this.#tokens + tokens);
    this.#admit();
  }

  #count(): void {
    const now = this.#world.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#countedAt) / 1000) * this.#qps);
    this.#countedAt = now;
  }

  #admit(): void {
    this.#count();
    for (let next = this.#next(); next && this.#tokens >= this.#needed(next); next = this.#next()) {
      this.#tokens -= next.tokens;
      next.admit();
    }
    this.#arm();
  }

  #needed({ tokens }: Waiter): number {
    return Math.min(tokens, this.#burst);
  }

  /** Of each rank the first has waited longest. */
  #next(): Waiter | undefined {
    const [lease, ...others] = this.#waiting.map(([first]) => first);
    if (lease) return lease;
    const waiting = others.filter((waiter) => waiter !== undefined);
    const starvingSince = this.#world.monotonic() - longestStarvingMilliseconds;
    const [starving] = waiting
      .filter(({ sinceMilliseconds }) => sinceMilliseconds <= starvingSince)
      .toSorted((one, other) => one.sinceMilliseconds - other.sinceMilliseconds);
    return starving ?? waiting[0];
  }

  /** One timer as long as somebody waits: for the tokens of the next, or for when somebody else becomes the next. */
  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const next = this.#next();
    if (!next) return;
    const now = this.#world.monotonic();
    const starving = this.#waiting
      .flatMap(([first]) => (first ? [first.sinceMilliseconds + longestStarvingMilliseconds - now] : []))
      .filter((milliseconds) => milliseconds > 0);
    const milliseconds = Math.min(((this.#needed(next) - this.#tokens) / this.#qps) * 1000, ...starving);
    this.#cancelTimer = this.#world.timer(Math.max(shortestWaitMilliseconds, milliseconds), () => {
      this.#cancelTimer = null;
      this.#admit();
    });
  }
}
