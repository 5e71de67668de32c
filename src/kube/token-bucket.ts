import type { World } from './world.ts';

/**
 * Whose calls go first when the API server may not be called as often as all would like to: keeping the lease, then
 * what confirms and does a disruption, then what is written about it, then the rest.
 */
export type Lane = 'lease' | 'disrupt' | 'status' | 'events' | 'read';

/** Lanes of equal rank share one queue, so that neither starves the other. */
const rankOfLane: Readonly<Record<Lane, number>> = { lease: 0, disrupt: 1, status: 2, events: 3, read: 3 };
const ranks = 4;

/** A timer may fire a little before its time; asking again after less than this would be spinning. */
const shortestWaitMilliseconds = 1;

interface Waiter {
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
 * Holds calls back to so many a second, the important ones first, in order within a rank. Counts on the monotonic
 * clock: a step of the wall clock neither opens nor closes it.
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

  /** Resolves to `true` once the call may go, to `false` when the signal is aborted before. */
  take(lane: Lane, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    this.#count();
    if (this.#tokens >= 1 && this.waiting === 0) {
      this.#tokens -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const queue = this.#waiting[rankOfLane[lane]] as Set<Waiter>;
      const aborted = (): void => {
        queue.delete(waiter);
        this.#arm();
        resolve(false);
      };
      const waiter: Waiter = {
        admit: () => {
          queue.delete(waiter);
          signal?.removeEventListener('abort', aborted);
          resolve(true);
        },
      };
      queue.add(waiter);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#arm();
    });
  }

  #count(): void {
    const now = this.#world.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#countedAt) / 1000) * this.#qps);
    this.#countedAt = now;
  }

  #admit(): void {
    this.#count();
    for (const queue of this.#waiting) {
      for (const waiter of queue) {
        if (this.#tokens < 1) return;
        this.#tokens -= 1;
        waiter.admit();
      }
    }
  }

  /** One timer, for the next token, as long as somebody waits. */
  #arm(): void {
    if (this.waiting === 0) {
      this.#cancelTimer?.();
      this.#cancelTimer = null;
      return;
    }
    if (this.#cancelTimer) return;
    const milliseconds = ((1 - this.#tokens) / this.#qps) * 1000;
    this.#cancelTimer = this.#world.timer(Math.max(shortestWaitMilliseconds, milliseconds), () => {
      this.#cancelTimer = null;
      this.#admit();
      this.#arm();
    });
  }
}
