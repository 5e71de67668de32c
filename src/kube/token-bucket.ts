import type { World } from '../base/world.ts';

// The rate limit for requests to the API server, with priorities and fairness among tenants.

/**
 * The order in which the rate limit lets waiting calls pass: first calls that renew the lease, then calls that confirm
 * or perform a disruption, then writes of the status, then all other calls.
 */
export type Priority = 'lease' | 'disrupt' | 'status' | 'events' | 'read';

/** Priorities of equal rank share a queue, so that no priority starves another. */
const rankOfLane: Readonly<Record<Priority, number>> = { lease: 0, disrupt: 1, status: 2, events: 3, read: 3 };
const ranks = 4;

/** A call that has waited for this long is sent next, whatever its rank, so that no rank starves. */
const longestStarvingMilliseconds = 1000;

/** A timer may fire slightly early; a shorter wait than this would busy-loop. */
const shortestWaitMilliseconds = 1;

/**
 * Tokens that are taken in advance for several calls, so that none of these calls has to wait. Unused tokens are
 * returned.
 */
export interface Reservation {
  /** Uses one token. Returns whether there was one left to use. */
  take(): boolean;
  /** Returns the unused tokens. */
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
  /** Number of calls that may be sent at once after a time without calls. */
  readonly burst: number;
}

/** The waiting calls of one rank. Tenants take turns; the tenant that is next comes first in the map. */
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

  /** Removes a call that was sent or aborted. All other tenants get a turn before this tenant gets its next one. */
  remove(waiter: Waiter): void {
    const waiters = this.#waiting.get(waiter.tenant);
    if (waiters?.delete(waiter) !== true) return;
    this.#waiting.delete(waiter.tenant);
    if (waiters.size > 0) this.#waiting.set(waiter.tenant, waiters);
  }
}

/**
 * Limits the rate of calls. Higher priorities go first. Within a rank, tenants take turns, so a tenant with a thousand
 * calls delays a call of another tenant by one call only. The calls of one tenant stay in order. Calls that renew the
 * lease never wait, not even for tokens. Any other call that has waited for a second goes first. The bucket uses the
 * monotonic clock, so changes of the wall clock have no effect.
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
    if (!(burst >= 1)) throw new TypeError(`Expected \`burst\` to be a number of at least 1, got ${burst}`);
    this.#world = world;
    this.#qps = qps;
    this.#burst = burst;
    this.#tokens = burst;
    this.#countedAt = world.monotonic();
  }

  /** Resolves to `true` once the call may be sent, or to `false` if the signal is aborted first. */
  take(priority: Priority, signal?: AbortSignal, tenant = ''): Promise<boolean> {
    return this.#take(priority, 1, signal, tenant);
  }

  /** `tokens` is at most the burst, so the bucket never becomes negative at the expense of other tenants. */
  #take(priority: Priority, tokens: number, signal: AbortSignal | undefined, tenant: string): Promise<boolean> {
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

  /**
   * Takes tokens for later calls. A reservation that exceeds the burst is taken in parts, and all other tenants get a
   * turn between two parts. Resolves to `null` if the signal is aborted first.
   */
  async reserve(priority: Priority, tokens: number, signal?: AbortSignal, tenant = ''): Promise<Reservation | null> {
    if (signal?.aborted) return null;
    let left = 0;
    while (left < tokens) {
      const part = Math.min(tokens - left, Math.floor(this.#burst));
      if (!(await this.#take(priority, part, signal, tenant))) {
        if (left > 0) this.#release(left);
        return null;
      }
      left += part;
    }
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
    for (let next = this.#next(); next && this.#tokens >= next.tokens; next = this.#next()) {
      this.#tokens -= next.tokens;
      next.admit();
    }
    this.#arm();
  }

  /** The call to send next. Only the first call of each rank is considered. */
  #next(): Waiter | undefined {
    const waiting = this.#waiting.map(({ first }) => first).filter((waiter) => waiter !== undefined);
    const starvingSince = this.#world.monotonic() - longestStarvingMilliseconds;
    const [starving] = waiting
      .filter(({ sinceMilliseconds }) => sinceMilliseconds <= starvingSince)
      .toSorted((one, other) => one.sinceMilliseconds - other.sinceMilliseconds);
    return starving ?? waiting[0];
  }

  /**
   * Keeps one timer while calls wait. The timer fires when there are enough tokens for the next call. It is set again
   * when a different call becomes the next one.
   */
  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const next = this.#next();
    if (!next) return;
    const now = this.#world.monotonic();
    const starving = this.#waiting
      .flatMap(({ first }) => (first ? [first.sinceMilliseconds + longestStarvingMilliseconds - now] : []))
      .filter((milliseconds) => milliseconds > 0);
    const milliseconds = Math.min(((next.tokens - this.#tokens) / this.#qps) * 1000, ...starving);
    this.#cancelTimer = this.#world.timer(Math.max(shortestWaitMilliseconds, milliseconds), () => {
      this.#cancelTimer = null;
      this.#admit();
    });
  }
}
