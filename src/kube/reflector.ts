import { type BackoffOptions, backoffMilliseconds, delay } from '../base/delay.ts';
import type { Json } from '../base/json.ts';
import { TimeLimit } from '../base/time-limit.ts';
import type { Log, World } from '../base/world.ts';
import type { ApiClient, Query } from './api-client.ts';
import { ApiError, errorOfWatch, isForbidden, isGone, isInvalid, isNotFound, withoutRequest } from './api-error.ts';
import { isProvenAbsent } from './discovery.ts';
import { type DecodeFailureReason, type ListedKind, pagesOf, parseWatchEvent, type WatchEvent } from './list-watch.ts';
import { isAtLeast } from './raw-object.ts';
import { type Listing, ReflectorStore } from './reflector-store.ts';
import { path } from './resource.ts';
import type { Store, Stored } from './store.ts';

// Keeps a store in sync with the API server for one kind of object.
//
//     list (pages, or streamed by the watch) ---> store
//       ^                                           ^
//       | gap, expired, too long silent             | events, bookmarks
//       +------------------- watch -----------------+

/** Parsing a page blocks the event loop. The garbage of a larger page would also survive the young generation. */
const defaultPageSize = 50;
/** The server ends each watch after a random time between these two limits, so that not all watches end at once. */
const shortestWatchSeconds = 240;
const longestWatchSeconds = 480;
/** Bookmarks come about every 60 s. A connection that is silent for twice as long is treated as dead. */
const silenceMilliseconds = 120_000;
/**
 * After this many consecutive silent watches, the objects are listed again. The API server silently drops events and
 * bookmarks up to the resourceVersion that a watch has requested (apiserver 0.36, watch_cache.go and cache_watcher.go).
 * After etcd was restored from a backup, that resourceVersion may be far in the future.
 */
const mostSilentWatches = 2;
/** If a watch was open for at least this long, the delay after the next failure is again the shortest one. */
const goodWatchMilliseconds = 10_000;
/**
 * An optional kind counts as unavailable after this time without an answer. A watch may be silent for a shorter time
 * only.
 */
const unansweredMilliseconds = 180_000;
const retryBackoff: BackoffOptions = { firstMilliseconds: 200, longestMilliseconds: 10_000 };
/** The longest Retry-After that this program respects, because the controller does nothing without a cache. */
const longestAskedMilliseconds = 60_000;
/** After this many consecutive expired page tokens, the list is requested as a single page, which needs no token. */
const mostPagesLost = 2;
const pageTimeoutMilliseconds = 60_000;

const fromTheList = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;

export interface ReflectorObserver {
  listed?(): void;
  failed?(error: unknown): void;
  /** An object, a list or an event that could not be decoded and was skipped. */
  ignored?(reason: DecodeFailureReason): void;
}

/**
 * Why a kind cannot be read: no role grants it, its definition does not exist, or every attempt has failed for a while.
 */
export type Unavailable = 'Forbidden' | 'NotFound' | 'Unanswered';

/**
 * A list is older than the objects that were already known, which means that etcd was restored from a backup. Facts
 * that were derived from newer objects are then wrong, for example which of two states of an object is later.
 * Kubernetes recommends restarting its own components after a restore.
 */
export class RewoundError extends Error {
  override readonly name = 'RewoundError';
}

export interface ReflectorOptions<R extends Stored> extends ListedKind {
  readonly client: ApiClient;
  readonly world: World;
  /** Selectors that apply to both the list and the watch. */
  readonly query?: Query;
  /**
   * Returns the part of an object to keep, or `null` to keep nothing. If the function throws, only that object is
   * skipped.
   */
  readonly project: (raw: Json) => R | null;
  readonly store: Store<R>;
  readonly log: Log;
  readonly pageSize?: number;
  /**
   * Lists the objects as part of the watch: the server sends every object, then a bookmark, then changes
   * (`sendInitialEvents`, on by default since Kubernetes 1.34). This avoids large pages in memory. If the server does
   * not support streaming, the reflector lists pages.
   */
  readonly streamsLists?: boolean;
  readonly observer?: ReflectorObserver;
  /**
   * Makes the kind optional: while it is forbidden or missing, it counts as synced. The function is called with the
   * reason, the API server's message, and whether the kind was readable before. Once the kind is readable again, the
   * function is called with `null`. Known objects are kept while the kind is forbidden or its requests get no
   * answer, and are removed once the kind no longer exists.
   */
  readonly onUnavailable?: (why: Unavailable | null, message: string, wasRead: boolean) => void;
  /**
   * If set, `run` rejects with `RewoundError` when a list is older than what was already known. Otherwise `run`
   * continues.
   */
  readonly endsWhenRewound?: boolean;
  /** If set, the kind is optional for this reason only, and the callback does the logging. */
  readonly onlyWhere?: Exclude<Unavailable, 'Unanswered'>;
}

/**
 * Keeps a store in sync with the API server for the objects of one kind. The reflector lists the objects, then watches
 * them, and starts over whenever it may have missed something. Several reflectors may share one store; each removes
 * only the objects that it added itself.
 */
export class Reflector<R extends Stored> {
  /** Resolves once the first list is in the store, or once `run` has ended without one: see `hasSynced`. */
  readonly synced: Promise<void>;
  readonly #options: ReflectorOptions<R>;
  readonly #path: string;
  readonly #owned: ReflectorStore<R>;
  readonly #resolveSynced: () => void;
  #hasSynced = false;
  #wasRead = false;
  #resourceVersion: string | null = null;
  /** The newest resourceVersion that this reflector has ever seen. It reveals an older list. */
  #newest: string | null = null;
  /** The number of consecutive watches that ended in silence, without an event in between. */
  #silentWatches = 0;
  #heardAtMilliseconds: number | null = null;
  #unavailable: Unavailable | null = null;
  /** The last reason that was logged, so that each reason is logged once. */
  #reported: Unavailable | null = null;
  /** The number of consecutive expired page tokens. */
  #pagesLost = 0;
  #wentWell = false;
  #streamsLists: boolean;

  constructor(options: ReflectorOptions<R>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#resolveSynced = resolve;
    this.#options = options;
    this.#path = path(options.kind, options);
    this.#streamsLists = options.streamsLists ?? false;
    this.#owned = new ReflectorStore({
      ...options,
      kind: options.kind.kind,
      onFailure: (...failure) => this.#leftOut(...failure),
    });
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Milliseconds since the last answer of the server, bookmarks included; `null` before the first list. */
  get ageMilliseconds(): number | null {
    return this.#heardAtMilliseconds === null ? null : this.#options.world.monotonic() - this.#heardAtMilliseconds;
  }

  /** Runs until aborted. Rejects only with `RewoundError`, if `endsWhenRewound` is set. */
  async run(signal: AbortSignal): Promise<void> {
    const { world, log, observer } = this.#options;
    let failures = 0;
    let expirations = 0;
    while (!signal.aborted) {
      const error = await this.#proven(await this.#listAndWatch(signal), signal);
      if (signal.aborted) break;
      if (error instanceof RewoundError) {
        this.#resolveSynced();
        throw error;
      }
      if (this.#wentWell) failures = expirations = 0;
      if (error === null) continue;
      if (isGone(error)) {
        // The server answers again, so earlier failures do not delay the next list.
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
        const fields = { path: this.#path, error, waitMilliseconds: Math.round(waitMilliseconds) };
        const why = unavailability(error);
        if (why === null || why !== this.#reported) log.warn(fields, 'Failed to list or watch; retrying');
        else log.debug(fields, 'List or watch failed again for the same reason; retrying');
        this.#reported = why;
        this.#noteSilence(error);
      }
      await delay(world, waitMilliseconds, signal);
    }
    this.#resolveSynced();
  }

  /**
   * A plain 404 proves nothing. If discovery confirms that the API server does not serve the kind, the result is an
   * error that counts as proof. Otherwise the result is `error` itself.
   */
  async #proven(error: unknown, signal: AbortSignal): Promise<unknown> {
    const { client, kind, onUnavailable } = this.#options;
    if (!(error instanceof ApiError) || error.isStatus || onUnavailable === undefined) return error;
    if (!(await isProvenAbsent(error, client, kind, signal))) return error;
    const { status, reason, message } = error;
    return new ApiError({ status, reason, message, cause: error });
  }

  /** Whether the failure means that an optional kind is unavailable. If so, this function handles the failure. */
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

  /** Reports that requests for the kind get no answer: the store may be out of date and may lack new objects. */
  #noteSilence(error: unknown): void {
    const { ageMilliseconds } = this;
    const { onUnavailable, onlyWhere } = this.#options;
    if (onUnavailable === undefined || onlyWhere !== undefined || ageMilliseconds === null) return;
    if (ageMilliseconds >= unansweredMilliseconds) this.#setUnavailable('Unanswered', error);
  }

  #setUnavailable(why: Unavailable | null, error?: unknown): void {
    if (this.#unavailable === why) return;
    this.#unavailable = why;
    const { log, onUnavailable, onlyWhere } = this.#options;
    if (onlyWhere === undefined) {
      const path = this.#path;
      if (why === null) log.info({ path }, 'Kind is readable now');
      else if (why === 'Unanswered') log.warn({ path, error }, 'Failed to read kind for several minutes; retrying');
      else if (why === 'Forbidden')
        log.warn({ path, error }, 'Forbidden to read kind; continuing without it, will retry');
      else log.info({ path, error }, 'Kind does not exist; continuing without it, will retry');
    }
    onUnavailable?.(why, error instanceof Error ? withoutRequest(error) : '', this.#wasRead);
  }

  #synchronized(): void {
    this.#hasSynced = true;
    this.#resolveSynced();
  }

  /** Runs until the watch ends. Resolves to the error, or to `null` if there was none. */
  async #listAndWatch(signal: AbortSignal): Promise<unknown> {
    this.#wentWell = false;
    try {
      if (!this.#streamsLists) this.#resourceVersion ??= await this.#list(signal);
      const events = await this.#watch(this.#resourceVersion, signal);
      if (events > 0 || this.#wentWell) return null;
      return new Error('expected a watch to stay open, but it ended at once without an event');
    } catch (error) {
      const isStreamRefused = this.#streamsLists && this.#resourceVersion === null && isInvalid(error);
      if (!isStreamRefused) return error;
      this.#options.log.debug({ path: this.#path, error }, 'API server does not stream lists; listing page by page');
      this.#streamsLists = false;
      return null;
    }
  }

  /** Resolves to the resourceVersion from which to watch. The store does not change until the last page has arrived. */
  async #list(signal: AbortSignal): Promise<string> {
    const { client, query = {}, pageSize = defaultPageSize, observer } = this.#options;
    const limit = this.#pagesLost < mostPagesLost ? pageSize : undefined;
    const listing: Listing<R> = new Map();
    let resourceVersion = '';
    try {
      const options = {
        query,
        priority: 'read',
        retries: 0,
        timeoutMilliseconds: pageTimeoutMilliseconds,
        signal,
      } as const;
      for await (const page of pagesOf(client, this.#options, limit, options)) {
        this.#heard();
        for (const raw of page.items) this.#owned.put(raw, listing);
        resourceVersion ||= page.resourceVersion;
      }
    } catch (error) {
      if (resourceVersion !== '' && isGone(error)) this.#pagesLost += 1;
      if (error instanceof TypeError) observer?.ignored?.('AnotherKind');
      throw error;
    }
    this.#pagesLost = 0;
    this.#listed(listing, resourceVersion);
    return resourceVersion;
  }

  #listed(listing: Listing<R>, resourceVersion: string): void {
    const known = this.#newest;
    this.#newest = resourceVersion;
    if (known !== null && known !== resourceVersion && isAtLeast(known, resourceVersion)) {
      const from = `expected a list of ${this.#path} from resourceVersion ${known} on, got ${resourceVersion}`;
      const error = new RewoundError(`${from}: etcd was restored from a backup`);
      if (this.#options.endsWhenRewound) throw error;
      this.#options.log.warn({ path: this.#path, error }, 'List returned objects older than those already known');
    }
    this.#owned.replace(listing);
    this.#reported = null;
    this.#setUnavailable(null);
    this.#wasRead = true;
    this.#synchronized();
    this.#options.observer?.listed?.();
  }

  /**
   * Resolves to the number of events once the server has ended the watch. Without a resourceVersion, the watch begins
   * with a streamed list, and the store does not change until that list is complete.
   */
  async #watch(resourceVersion: string | null, signal: AbortSignal): Promise<number> {
    const { client, world, query } = this.#options;
    const timeoutSeconds = Math.round(
      shortestWatchSeconds + world.random() * (longestWatchSeconds - shortestWatchSeconds),
    );
    const silence = new TimeLimit(world, silenceMilliseconds, signal);
    const start = world.monotonic();
    let events = 0;
    let listing: Listing<R> | null = resourceVersion === null ? new Map() : null;
    try {
      const from = resourceVersion === null ? fromTheList : { resourceVersion };
      const parameters = { ...query, watch: true, allowWatchBookmarks: true, timeoutSeconds, ...from };
      for await (const line of client.stream(this.#path, parameters, silence.signal)) {
        silence.restart();
        this.#silentWatches = 0;
        this.#heard();
        if (listing === null) this.#setUnavailable(null);
        const event = parseWatchEvent(line);
        events += 1;
        if (this.#take(event, listing) && listing !== null) {
          this.#listed(listing, this.#resourceVersion ?? '');
          listing = null;
        }
      }
      if (listing !== null)
        throw new Error(`expected a list of ${this.#path}, but its watch ended before it was complete`);
      return events;
    } catch (error) {
      if (!silence.passed) throw error;
      this.#silentWatches += 1;
      if (this.#silentWatches >= mostSilentWatches) {
        this.#silentWatches = 0;
        this.#resourceVersion = null;
      }
      throw new Error(`expected at least a bookmark, but nothing came for ${silenceMilliseconds / 1000} s`, {
        cause: error,
      });
    } finally {
      silence.end();
      this.#wentWell = listing === null && world.monotonic() - start >= goodWatchMilliseconds;
    }
  }

  /**
   * Puts an event into the listing if there is one, otherwise into the store. Returns whether the event ends a streamed
   * list. Throws if an event may have been missed; the next list then replaces the store.
   */
  #take(event: WatchEvent, listing: Listing<R> | null): boolean {
    if (listing === null && this.#isPast(event)) return false;
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        if (!this.#owned.put(event.object, listing)) return false;
        break;
      case 'DELETED':
        if (!this.#owned.remove(event.object, listing)) return false;
        break;
      case 'TOO_LARGE':
        this.#owned.skip(event.metadata, listing);
        break;
      case 'BOOKMARK':
        break;
      case 'ERROR':
        this.#resourceVersion = null;
        throw errorOfWatch(`watch of ${this.#path}`, event.status);
      case 'UNREADABLE':
        this.#leftOut(new Error(event.why), 'an event', event.reason);
        if (!event.broken) return false;
        this.#resourceVersion = null;
        throw new Error(`watch of ${this.#path}: ${event.why}`);
    }
    const endsList = event.type === 'BOOKMARK' && event.endsList;
    // A watch cannot resume in the middle of a streamed list.
    if (listing === null || endsList) this.#resourceVersion = event.resourceVersion;
    if (listing === null) this.#newest = event.resourceVersion;
    return endsList;
  }

  /**
   * Whether the store already contains what an event reports. The API server sends the events of a watch in the order
   * of their resourceVersions, so such an event is a repetition. Taken for news, it would bring an earlier state back.
   */
  #isPast(event: WatchEvent): boolean {
    const at = this.#resourceVersion;
    return at !== null && 'resourceVersion' in event && isAtLeast(at, event.resourceVersion);
  }

  #heard(): void {
    this.#heardAtMilliseconds = this.#options.world.monotonic();
  }

  #leftOut(error: unknown, what: string, reason: DecodeFailureReason | null): void {
    const { log, observer } = this.#options;
    if (reason !== null) observer?.ignored?.(reason);
    log.error({ path: this.#path, error }, `Skipped undecodable ${what}`);
  }
}

/** The reason for a failure that lasts until a person acts; `null` for any other failure. */
function unavailability(error: unknown): Unavailable | null {
  return isForbidden(error) ? 'Forbidden' : isNotFound(error) ? 'NotFound' : null;
}

/** The delay that the server requested by Retry-After. */
function askedMilliseconds(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
}
