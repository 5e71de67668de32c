import type { ApiClient } from './api-client.ts';
import { ApiError, isAlreadyExists, isNotFound, isTooManyRequests } from './api-error.ts';
import { backoffMilliseconds } from './backoff.ts';
import { delay } from './delay.ts';
import { eventName, eventOf, namespaceOf, type Occurrence, type Series, seriesKey, seriesPatch } from './event.ts';
import type { Log } from './log.ts';
import { events, path } from './resource.ts';
import { TokenBucket } from './token-bucket.ts';
import type { World } from './world.ts';

export type { ObjectReference, Occurrence } from './event.ts';

/** Of events alone, on top of what all calls share. */
const eventsPerSecond = 5;
const eventsAtOnce = 25;
const mostPending = 1_000;
/** The same thing after more than this is told anew, as client-go does it. */
const seriesMilliseconds = 360_000;
const mostTries = 5;
const retryBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 10_000 };

export interface EventRecorderOptions {
  readonly client: ApiClient;
  readonly world: World;
  /** Becomes `reportingController`: a qualified name. */
  readonly component: string;
  /** Becomes `reportingInstance`. */
  readonly instance: string;
  readonly log: Log;
}

interface Told extends Series {
  readonly seenAtMilliseconds: number;
  /** Whether the API server has it, so that what comes is a patch. */
  readonly created: boolean;
}

/**
 * Tells people what happens, as events.k8s.io/v1. Never throws and never waits: what can't be written in time is
 * dropped, since an event is a courtesy. What repeats within six minutes counts up instead of being told again.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #bucket: TokenBucket;
  readonly #stop = new AbortController();
  /** By key, the one seen least recently first. */
  readonly #told = new Map<string, Told>();
  readonly #pending = new Set<string>();
  #writing: Promise<void> | null = null;
  #names = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket({ world: options.world, qps: eventsPerSecond, burst: eventsAtOnce });
  }

  /** Returns at once; it is written when its turn comes. */
  record(occurrence: Occurrence): void {
    if (this.#stop.signal.aborted) return;
    this.#forgetOld();
    const key = seriesKey(occurrence);
    if (!this.#pending.has(key) && this.#pending.size >= mostPending) {
      this.#options.log.warn({ reason: occurrence.reason }, `more than ${mostPending} events wait: dropped one`);
      return;
    }
    const before = this.#told.get(key);
    this.#told.delete(key);
    this.#told.set(key, before ? this.#again(before) : this.#first(occurrence));
    this.#pending.add(key);
    this.#writing ??= this.#writeAll();
  }

  /** Takes nothing any more; resolves when what is pending has been written, at the latest after the grace. */
  async close(graceMilliseconds: number): Promise<void> {
    const written = new AbortController();
    const writing = this.#writing?.then(() => written.abort());
    if (writing) await delay(this.#options.world, graceMilliseconds, written.signal);
    this.#stop.abort();
    await writing;
  }

  #first(occurrence: Occurrence): Told {
    const { world } = this.#options;
    const wall = world.wall();
    this.#names += 1;
    const chance = Math.floor(world.random() * 2 ** 32).toString(16);
    return {
      name: eventName(occurrence, `${Math.floor(wall).toString(16)}${chance}${this.#names.toString(16)}`),
      occurrence,
      firstWallMilliseconds: wall,
      lastWallMilliseconds: wall,
      count: 1,
      seenAtMilliseconds: world.monotonic(),
      created: false,
    };
  }

  #again(before: Told): Told {
    const { world } = this.#options;
    return {
      ...before,
      count: before.count + 1,
      lastWallMilliseconds: world.wall(),
      seenAtMilliseconds: world.monotonic(),
    };
  }

  #forgetOld(): void {
    const now = this.#options.world.monotonic();
    for (const [key, { seenAtMilliseconds }] of this.#told) {
      if (now - seenAtMilliseconds < seriesMilliseconds) return;
      if (!this.#pending.has(key)) this.#told.delete(key);
    }
  }

  /** One after another, each as it is when its turn comes. Never rejects. */
  async #writeAll(): Promise<void> {
    // Not in the stack of whoever records.
    await Promise.resolve();
    for (const key of this.#pending) {
      if (!(await this.#bucket.take('events', this.#stop.signal))) break;
      this.#pending.delete(key);
      const told = this.#told.get(key);
      if (told) await this.#write(key, told);
    }
    this.#writing = null;
  }

  async #write(key: string, told: Told): Promise<void> {
    const { world, log } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#send(told);
        const now = this.#told.get(key);
        if (now?.name === told.name) this.#told.set(key, { ...now, created: true });
        return;
      } catch (error) {
        const { reason, namespace } = { reason: told.occurrence.reason, namespace: namespaceOf(told.occurrence) };
        if (tries >= mostTries || !mayPass(error) || this.#stop.signal.aborted) {
          log.warn({ error, reason, namespace }, 'could not write an event: dropped it');
          return;
        }
        await delay(world, backoffMilliseconds(tries, retryBackoff, world.random()), this.#stop.signal);
      }
    }
  }

  async #send(told: Told): Promise<void> {
    if (!told.created) {
      await this.#create(told);
      return;
    }
    try {
      const { client } = this.#options;
      const place = { namespace: namespaceOf(told.occurrence), name: told.name };
      const contentType = 'application/merge-patch+json';
      await client.call({
        method: 'PATCH',
        path: path(events, place),
        contentType,
        body: seriesPatch(told),
        lane: 'events',
        signal: this.#stop.signal,
      });
    } catch (error) {
      // Events live for an hour.
      if (!isNotFound(error)) throw error;
      await this.#create(told);
    }
  }

  async #create(told: Told): Promise<void> {
    try {
      await this.#options.client.call({
        method: 'POST',
        path: path(events, { namespace: namespaceOf(told.occurrence) }),
        body: eventOf(told, this.#options),
        lane: 'events',
        signal: this.#stop.signal,
      });
    } catch (error) {
      // An earlier try has arrived whose answer has not.
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500 || isTooManyRequests(error));
}
