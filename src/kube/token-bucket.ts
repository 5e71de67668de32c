import type { World } from '../base/world.ts';

// The rate limit of requests to the API server, with priorities and fairness among tenants.

/**
 * Which calls go first when the rate limit makes them wait: keeping the lease, then confirming and carrying out a
 * disruption, then writing its status, then the rest.
 */
export type Priority = 'lease' | 'disrupt' | 'status' | 'events' | 'read';

/** Priorities of equal rank share one queue, so that neither starves the other. */
const rankOfLane: Readonly<Record<Priority, number>> = { lease: 0, disrupt: 1, status: 2, events: 3, read: 3 };
const ranks = 4;

/** A call that has waited this long goes next, whatever its rank, so that no rank starves. */
const longestStarvingMilliseconds = 1000;

/** A timer may fire slightly early; waiting for less than this would spin. */
const shortestWaitMilliseconds = 1;

/**
 * Tokens that are taken before the calls that need them, so that none of these calls has to wait. Unused tokens are
 * returned.
 */
export interface Reservation {
  /** Whether there was a token left for a call. */
  take(): boolean;
  /** Takes no more tokens. */
  end(): void;
}

interface Waiter {
  readonly tenant: string;
  readonly tokens: number;
  readonly sinceMilliseconds: number;
  readonly admit: () => void;
}

export interface TokenBucketOptions {
  readonly world: World;
  /** Average calls per second. */
  readonly qps: number;
  /** Calls that may be sent at once after an idle time. */
  readonly burst: number;
}

/** The waiting calls of one rank. Tenants take turns: the one whose turn is next comes first. */
class Lane {
  readonly #waiting = new Map<string, Set<Waiter>>();

  get first(): Waiter | undefined {
    const [waiters] = this.#waiting.values();
    const [first] = waiters ?? [];
    return first;
  }

  add(waiter: Waiter): void {
    const waiters = this.#waiting.get(waiter.tenant) ?? new Set();
    this.#waiting.set(waiter.tenant, waiters.add(waiter));
  }

  /** It had its turn, or was aborted. The next turn of its tenant comes after those of all others. */
  remove(waiter: Waiter): void {
    const waiters = this.#waiting.get(waiter.tenant);
    if (waiters?.delete(waiter) !== true) return;
    this.#waiting.delete(waiter.tenant);
    if (waiters.size > 0) this.#waiting.set(waiter.tenant, waiters);
  }
}

/**
 * Limits the rate of calls. Higher priorities go first. Within a rank tenants take turns, so that a tenant with a
 * thousand calls delays another one by one call; the calls of one tenant go in order. Keeping the lease waits for
 * nothing, not even for tokens; among the rest, a call that has waited for a second goes first. Uses the monotonic
 * clock, so that steps of the wall clock have no effect.
 */
export class TokenBucket {
  readonly #world: World;
  readonly #qps: number;
  readonly #burst: number;
  readonly #waiting: readonly Lane[] = Array.from({ length: ranks }, () => new Lane());
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

  /**
   * Resolves to `true` once the call may go, or to `false` if the signal is aborted first. With `tokens`, that many
   * calls may go at once. If they exceed the burst, they go when the bucket is full, and later calls wait for it.
   */
  take(priority: Priority, signal?: AbortSignal, tokens = 1, tenant = ''): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const lane = this.#waiting[rankOfLane[priority]] as Lane;
      const aborted = (): void => {
        lane.remove(waiter);
        this.#arm();
        resolve(false);
      };
      const waiter: Waiter = {
        tenant,
        tokens,
        sinceMilliseconds: this.#world.monotonic(),
        admit: () => {
          lane.remove(waiter);
          signal?.removeEventListener('abort', aborted);
          resolve(true);
        },
      };
      lane.add(waiter);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#admit();
    });
  }

  /** Takes tokens before the calls that will need them; `null` if the signal is aborted first. */
  async reserve(
    priority: Priority,
    tokens: number,
    signal?: AbortSignal,
    tenant?: string,
  ): Promise<Reservation | null> {
    if (!(await this.take(priority, signal, tokens, tenant))) return null;
    let left = tokens;
    return {
      take: () => left > 0 && left-- > 0,
      end: () => {
        if (left > 0) this.#release(left);
        left = 0;
      },
    };
  }

  #release(tokens: number): void {
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
    const [lease] = this.#waiting;
    for (let next = lease?.first; next; next = lease?.first) {
      this.#tokens -= next.tokens;
      next.admit();
    }
    for (let next = this.#next(); next && this.#tokens >= this.#needed(next); next = this.#next()) {
      this.#tokens -= next.tokens;
      next.admit();
    }
    this.#arm();
  }

  #needed({ tokens }: Waiter): number {
    return Math.min(tokens, this.#burst);
  }

  /** The first of each rank has waited longest. */
  #next(): Waiter | undefined {
    const waiting = this.#waiting.map(({ first }) => first).filter((waiter) => waiter !== undefined);
    const starvingSince = this.#world.monotonic() - longestStarvingMilliseconds;
    const [starving] = waiting
      .filter(({ sinceMilliseconds }) => sinceMilliseconds <= starvingSince)
      .toSorted((one, other) => one.sinceMilliseconds - other.sinceMilliseconds);
    return starving ?? waiting[0];
  }

  /** One timer while calls wait: until the next call has its tokens, or until another call becomes the next. */
  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const next = this.#next();
    if (!next) return;
    const now = this.#world.monotonic();
    const starving = this.#waiting
      .flatMap(({ first }) => (first ? [first.sinceMilliseconds + longestStarvingMilliseconds - now] : []))
      .filter((milliseconds) => milliseconds > 0);
    const milliseconds = Math.min(((this.#needed(next) - this.#tokens) / this.#qps) * 1000, ...starving);
    this.#cancelTimer = this.#world.timer(Math.max(shortestWaitMilliseconds, milliseconds), () => {
      this.#cancelTimer = null;
      this.#admit();
    });
  }
}
