import type { ApiClient, Query } from './api-client.ts';
import { ApiError, isForbidden, isGone, isNotFound } from './api-error.ts';
import { type BackoffOptions, backoffMilliseconds } from './backoff.ts';
import { delay } from './delay.ts';
import type { IgnoredReason } from './ignored.ts';
import { type ListPage, parseListPage } from './list-page.ts';
import type { Log } from './log.ts';
import { OwnedRecords } from './owned-records.ts';
import type { RawObject } from './raw-object.ts';
import { errorOfWatch } from './status.ts';
import type { Store, Stored } from './store.ts';
import { TimeLimit } from './time-limit.ts';
import { parseWatchEvent } from './watch-event.ts';
import type { World } from './world.ts';

/** A page blocks the event loop while it is parsed; what a larger one leaves behind outlives the young generation. */
const defaultPageSize = 50;
/** The server ends each watch after a random time between the two, so that they don't all end together. */
const shortestWatchSeconds = 240;
const longestWatchSeconds = 480;
/** Bookmarks come about every 60 s; a connection that says nothing for twice as long is dead, or as good as. */
const silenceMilliseconds = 120_000;
/** After a watch that was open for so long the next failure counts as the first one again. */
const goodWatchMilliseconds = 10_000;
const retryBackoff: BackoffOptions = { firstMilliseconds: 200, longestMilliseconds: 10_000 };
/** A server that wants to be left alone for longer is asked again nevertheless: without a cache nothing goes on. */
const longestAskedMilliseconds = 60_000;
/** A list whose page tokens have expired so often in a row is asked for in one piece, which can't. */
const mostPagesLost = 2;
const pageTimeoutMilliseconds = 60_000;

/** Told what a reflector does, for metrics. */
export interface ReflectorObserver {
  listed?(objects: number, seconds: number): void;
  watchEnded?(seconds: number, events: number): void;
  failed?(error: unknown): void;
  /** An object, a list or an event that couldn't be read, and was left out. */
  ignored?(reason: IgnoredReason): void;
}

/** Why a kind can't be read: its definition isn't there, or no role grants it. */
export type Unavailable = 'Forbidden' | 'NotFound';

export interface ReflectorOptions<R extends Stored> {
  readonly client: ApiClient;
  readonly world: World;
  /** Of the kind's list, in one namespace or all, as `path()` makes it. */
  readonly path: string;
  /** Of its objects, such as `Pod`: what says to be of another one is left out. */
  readonly kind?: string;
  /** Selectors, for list and watch alike. */
  readonly query?: Query;
  /** What to keep of an object; `null` for nothing. What it throws costs that object alone. */
  readonly project: (raw: RawObject) => R | null;
  readonly store: Store<R>;
  readonly log: Log;
  readonly pageSize?: number;
  readonly observer?: ReflectorObserver;
  /**
   * Given for a kind that one can do without: while it is forbidden or not there it counts as synced, and this is told
   * why, then `null` once it can be read. What was read before stays while it is forbidden, and goes with its kind.
   */
  readonly onUnavailable?: (why: Unavailable | null) => void;
  /** Given for one that one can do without for this reason alone. Then whoever is told says so. */
  readonly onlyWhere?: Unavailable;
}

/**
 * Keeps a store as the API server has the objects of one path: lists them page by page, then watches, and starts over
 * whenever it can't be sure to have missed nothing. Several reflectors may feed one store; each removes only what it
 * has put there itself.
 */
export class Reflector<R extends Stored> {
  /** Resolves once the first list is in the store, or `run` has ended without one: `hasSynced` tells. */
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions<R>;
  readonly #owned: OwnedRecords<R>;
  readonly #resolveSynced: () => void;
  #hasSynced = false;
  #resourceVersion: string | null = null;
  #heardAtMilliseconds: number | null = null;
  #unavailable: Unavailable | null = null;
  /** What keeps it from being read and has been said: it is not said again while it stays. */
  #said: Unavailable | null = null;
  /** In a row. */
  #pagesLost = 0;
  #wentWell = false;

  constructor(options: ReflectorOptions<R>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#resolveSynced = resolve;
    this.#options = options;
    this.#owned = new OwnedRecords({
      ...options,
      onFailure: (...failure) => this.#leftOut(...failure),
    });
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Since the server last said anything, a bookmark too; `null` before the first list. */
  get ageMilliseconds(): number | null {
    return this.#heardAtMilliseconds === null ? null : this.#options.world.monotonic() - this.#heardAtMilliseconds;
  }

  /** Goes on until aborted, whatever happens. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { world, log, path, observer } = this.#options;
    let failures = 0;
    let expirations = 0;
    while (!signal.aborted) {
      const error = await this.#listAndWatch(signal);
      if (signal.aborted) break;
      if (this.#wentWell) failures = expirations = 0;
      if (error === null) continue;
      if (isGone(error)) {
        // The server is there: what came before has no part in how soon it may be asked for a list.
        this.#resourceVersion = null;
        expirations += 1;
        failures = 0;
      } else {
        failures += 1;
      }
      const waitMilliseconds = Math.max(
        backoffMilliseconds(failures || expirations, retryBackoff, world.random()),
        Math.min(longestAskedMilliseconds, askedMilliseconds(error)),
      );
      if (!this.#goesWithout(error)) {
        observer?.failed?.(error);
        const fields = { path, error, waitMilliseconds };
        const why = unavailability(error);
        if (why === null || why !== this.#said) log.warn(fields, 'could not list or watch, trying again');
        else log.debug(fields, 'could not list or watch for the same reason as before, trying again');
        this.#said = why;
      }
      await delay(world, waitMilliseconds, signal);
    }
    this.#resolveSynced();
  }

  /** Whether the failure is that of a kind that one can do without, and is dealt with. */
  #goesWithout(error: unknown): boolean {
    const why = unavailability(error);
    const { onUnavailable, onlyWhere = why } = this.#options;
    if (why === null || why !== onlyWhere || onUnavailable === undefined) return false;
    this.#resourceVersion = null;
    this.#heardAtMilliseconds = null;
    if (why === 'NotFound') this.#owned.replace(new Map());
    this.#setUnavailable(why, error);
    this.#synchronized();
    return true;
  }

  #setUnavailable(why: Unavailable | null, error?: unknown): void {
    if (this.#unavailable === why) return;
    this.#unavailable = why;
    const { path, log, onUnavailable, onlyWhere } = this.#options;
    if (onlyWhere === undefined) {
      if (why === null) log.info({ path }, 'can be read now');
      else log.info({ path, error }, 'may not be read or is not there: going on without it, and trying again');
    }
    onUnavailable?.(why);
  }

  #synchronized(): void {
    this.#hasSynced = true;
    this.#resolveSynced();
  }

  /** Until the watch ends. What went wrong, `null` for nothing. */
  async #listAndWatch(signal: AbortSignal): Promise<unknown> {
    this.#wentWell = false;
    try {
      this.#resourceVersion ??= await this.#list(signal);
      const events = await this.#watch(this.#resourceVersion, signal);
      if (events > 0 || this.#wentWell) return null;
      return new Error('expected a watch to stay open, it ended at once and without an event');
    } catch (error) {
      return error;
    }
  }

  /** Resolves to the resourceVersion to watch from. Until the last page is there the store stays as it is. */
  async #list(signal: AbortSignal): Promise<string> {
    const { client, world, path, query, pageSize = defaultPageSize, observer } = this.#options;
    const start = world.monotonic();
    const limit = this.#pagesLost < mostPagesLost ? pageSize : undefined;
    const listing = new Map<string, R>();
    let resourceVersion: string | null = null;
    let next: string | undefined;
    do {
      const page = await this.#page(
        client.call<unknown>({
          method: 'GET',
          path,
          query: { ...query, limit, continue: next },
          lane: 'read',
          retries: 0,
          timeoutMilliseconds: pageTimeoutMilliseconds,
          signal,
        }),
        next !== undefined,
      );
      this.#heard();
      for (const raw of page.items) this.#owned.read(raw, listing);
      resourceVersion ??= page.resourceVersion;
      next = page.next;
    } while (next !== undefined);
    this.#pagesLost = 0;
    this.#owned.replace(listing);
    this.#said = null;
    this.#setUnavailable(null);
    this.#synchronized();
    observer?.listed?.(listing.size, (world.monotonic() - start) / 1000);
    return resourceVersion;
  }

  async #page(answer: Promise<unknown>, continued: boolean): Promise<ListPage> {
    const { path, kind, observer } = this.#options;
    try {
      return parseListPage(await answer, path, kind);
    } catch (error) {
      if (continued && isGone(error)) this.#pagesLost += 1;
      if (error instanceof TypeError) observer?.ignored?.('AnotherKind');
      throw error;
    }
  }

  /** Resolves to how many events it brought, once the server has ended it. */
  async #watch(resourceVersion: string, signal: AbortSignal): Promise<number> {
    const { client, world, path, query, observer } = this.#options;
    const timeoutSeconds = Math.round(
      shortestWatchSeconds + world.random() * (longestWatchSeconds - shortestWatchSeconds),
    );
    const silence = new TimeLimit(world, silenceMilliseconds, signal);
    const start = world.monotonic();
    let events = 0;
    try {
      const parameters = { ...query, watch: true, allowWatchBookmarks: true, timeoutSeconds, resourceVersion };
      for await (const line of client.stream(path, parameters, silence.signal)) {
        silence.restart();
        this.#heard();
        this.#take(line);
        events += 1;
      }
      return events;
    } catch (error) {
      if (!silence.passed) throw error;
      throw new Error(`expected a bookmark at least, nothing came for ${silenceMilliseconds / 1000} s`, {
        cause: error,
      });
    } finally {
      silence.end();
      const milliseconds = world.monotonic() - start;
      this.#wentWell = milliseconds >= goodWatchMilliseconds;
      observer?.watchEnded?.(milliseconds / 1000, events);
    }
  }

  /** Throws where events may have been missed: the next list makes up for it. */
  #take(line: string): void {
    const event = parseWatchEvent(line);
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        if (!this.#owned.put(event.object)) return;
        break;
      case 'DELETED':
        if (!this.#owned.remove(event.object)) return;
        break;
      case 'BOOKMARK':
        break;
      case 'ERROR':
        this.#resourceVersion = null;
        throw errorOfWatch(`watch of ${this.#options.path}`, event.status);
      case 'UNREADABLE':
        this.#leftOut(new Error(event.why), 'an event', event.reason);
        if (!event.broken) return;
        this.#resourceVersion = null;
        throw new Error(`watch of ${this.#options.path}: ${event.why}`);
    }
    this.#resourceVersion = event.resourceVersion;
  }

  #heard(): void {
    this.#heardAtMilliseconds = this.#options.world.monotonic();
  }

  #leftOut(error: unknown, what: string, reason: IgnoredReason | null): void {
    const { log, path, observer } = this.#options;
    if (reason !== null) observer?.ignored?.(reason);
    log.error({ path, error }, `could not take in ${what}: left out`);
  }
}

/** Of the kinds of failure that stay until a person does something; `null` for any other. */
function unavailability(error: unknown): Unavailable | null {
  return isForbidden(error) ? 'Forbidden' : isNotFound(error) ? 'NotFound' : null;
}

/** What the server has asked for by Retry-After. */
function askedMilliseconds(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
}
