import { backoffMilliseconds, delay } from '../base/delay.ts';
import type { Log, World } from '../base/world.ts';
import type { ApiClient } from './api-client.ts';
import { ApiError, isAlreadyExists, isNamespaceTerminating, isNotFound, isTooManyRequests } from './api-error.ts';
import { type EventSeries, eventName, eventOf, namespaceOf, type Occurrence, seriesKey, seriesPatch } from './event.ts';
import { events, path } from './resource.ts';
import { TokenBucket } from './token-bucket.ts';

// Writes Events without delaying the callers. The Events are best effort, merged and limited in number.

/** The rate limit for Events. It is lower than the limit that all calls share. */
const eventsPerSecond = 10;
const eventsAtOnce = 50;
const mostPending = 2_000;
/** If an Event repeats after a longer time than this, a new Event is created, as in client-go. */
const seriesMilliseconds = 360_000;
const mostTries = 5;
const retryBackoff = { firstMilliseconds: 1_000, longestMilliseconds: 10_000 };

export interface EventRecorderOptions {
  readonly client: ApiClient;
  readonly world: World;
  /** The `reportingController` of Events: a qualified name. */
  readonly component: string;
  /** The `reportingInstance` of Events. */
  readonly instance: string;
  readonly log: Log;
}

interface ReportedSeries extends EventSeries {
  readonly seenAtMilliseconds: number;
  /** Whether the API server already has the Event, so that the next write is a patch. */
  readonly created: boolean;
}

/**
 * Writes Events (events.k8s.io/v1). Never throws and never waits: an Event that cannot be written in time is dropped,
 * because Events are best effort. If an Event repeats within six minutes, the count of its series is increased.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #bucket: TokenBucket;
  readonly #stop = new AbortController();
  /** The series by key, ordered by their last occurrence, oldest first. */
  readonly #reported = new Map<string, ReportedSeries>();
  readonly #pending = new Set<string>();
  #writing: Promise<void> | null = null;
  #names = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket({ world: options.world, qps: eventsPerSecond, burst: eventsAtOnce });
  }

  record({ alsoRegarding, ...occurrence }: Occurrence): void {
    this.#queue(occurrence);
    if (alsoRegarding !== undefined) this.#queue({ ...occurrence, regarding: alsoRegarding });
  }

  #queue(occurrence: Occurrence): void {
    if (this.#stop.signal.aborted) return;
    this.#forgetOld();
    const key = seriesKey(occurrence);
    if (!this.#pending.has(key) && this.#pending.size >= mostPending) {
      this.#options.log.warn({ reason: occurrence.reason }, `Dropped an Event: more than ${mostPending} are pending`);
      return;
    }
    const before = this.#reported.get(key);
    this.#reported.delete(key);
    this.#reported.set(key, before ? this.#again(before) : this.#first(occurrence));
    this.#pending.add(key);
    this.#writing ??= this.#writeAll();
  }

  /** Accepts no more Events. Resolves when the pending Events are written, or when the grace period ends. */
  async close(graceMilliseconds: number): Promise<void> {
    const written = new AbortController();
    const writing = this.#writing?.then(() => written.abort());
    if (writing) await delay(this.#options.world, graceMilliseconds, written.signal);
    this.#stop.abort();
    await writing;
  }

  #first(occurrence: Occurrence): ReportedSeries {
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

  #again(before: ReportedSeries): ReportedSeries {
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
    for (const [key, { seenAtMilliseconds }] of this.#reported) {
      if (now - seenAtMilliseconds < seriesMilliseconds) return;
      if (!this.#pending.has(key)) this.#reported.delete(key);
    }
  }

  /** Writes the series one after another, each in its newest state. Never rejects. */
  async #writeAll(): Promise<void> {
    // Starts the writes outside the caller's stack.
    await Promise.resolve();
    for (const key of this.#pending) {
      if (!(await this.#bucket.take('events', this.#stop.signal))) break;
      this.#pending.delete(key);
      const reported = this.#reported.get(key);
      if (reported) await this.#write(key, reported);
    }
    this.#writing = null;
  }

  async #write(key: string, reported: ReportedSeries): Promise<void> {
    const { world, log } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#send(reported);
        const now = this.#reported.get(key);
        if (now?.name === reported.name) this.#reported.set(key, { ...now, created: true });
        return;
      } catch (error) {
        const { reason } = reported.occurrence;
        const namespace = namespaceOf(reported.occurrence);
        if (tries >= mostTries || !mayPass(error) || this.#stop.signal.aborted) {
          const level = isNamespaceTerminating(error) ? 'debug' : 'warn';
          log[level]({ error, reason, namespace }, 'Failed to write an Event; dropped it');
          return;
        }
        await delay(world, backoffMilliseconds(tries, retryBackoff, world.random()), this.#stop.signal);
      }
    }
  }

  async #send(reported: ReportedSeries): Promise<void> {
    if (!reported.created) return this.#create(reported);
    const place = { namespace: namespaceOf(reported.occurrence), name: reported.name };
    try {
      await this.#options.client.call({
        method: 'PATCH',
        path: path(events, place),
        contentType: 'application/merge-patch+json',
        body: seriesPatch(reported),
        priority: 'events',
        signal: this.#stop.signal,
      });
    } catch (error) {
      // The Event no longer exists, because the API server keeps Events for only an hour.
      if (!isNotFound(error)) throw error;
      await this.#create(reported);
    }
  }

  async #create(reported: ReportedSeries): Promise<void> {
    try {
      await this.#options.client.call({
        method: 'POST',
        path: path(events, { namespace: namespaceOf(reported.occurrence) }),
        body: eventOf(reported, this.#options),
        priority: 'events',
        signal: this.#stop.signal,
      });
    } catch (error) {
      // An earlier attempt created the Event, but its response was lost.
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500 || isTooManyRequests(error));
}
