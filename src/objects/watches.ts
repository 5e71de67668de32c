import type { Log, World } from '../base/world.ts';
import { evictionKind } from '../evictions/eviction.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { Reflector, type ReflectorOptions } from '../kube/reflector.ts';
import { jobs, namespaces } from '../kube/resource.ts';
import type { Stored } from '../kube/store.ts';
import { clusterKind } from '../moco/names.ts';
import type { CacheMetrics } from '../telemetry/runtime-metrics.ts';
import {
  type Cache,
  type CachedKind,
  forEachCachedKind,
  leastWatched,
  type UnavailableKind,
  type Watched,
} from './cache.ts';

// Lists and watches every kind into the cache, in an order that keeps memory usage low.

interface Watch {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
}

const clusterApi = `${clusterKind.group}/${clusterKind.version}`;
const mocoMissing = `the API server does not serve ${clusterKind.kind}s as ${clusterApi}: MOCO is not installed, or its version is not supported; the controller waits until it does`;
const mocoFound = `the API server has ${clusterKind.kind}s as ${clusterApi} now`;

/** Keeps the cache up to date, for the given namespaces or, if none are given, for all of them. */
export class Watches {
  readonly #reflectors: readonly Watch[];

  constructor(
    cache: Cache,
    client: ApiClient,
    world: World,
    log: Log,
    namespaceNames: readonly string[],
    metrics?: CacheMetrics,
    watched: Watched = leastWatched,
  ) {
    const reflect = <R extends Stored>(
      { kind, labelSelector, store, project }: CachedKind<R>,
      namespace: string | undefined,
      more: Pick<ReflectorOptions<Stored>, 'onUnavailable' | 'onlyWhere'>,
    ): Watch => {
      const observer = metrics?.observe(kind.kind, () => {
        const { ageMilliseconds } = reflector;
        return ageMilliseconds === null ? null : ageMilliseconds / 1000;
      });
      const reflector: Reflector<R> = new Reflector({
        client,
        world,
        log,
        store,
        project,
        kind,
        namespace,
        streamsLists: true,
        endsWhenRewound: true,
        ...(labelSelector === undefined ? {} : { query: { labelSelector } }),
        ...(observer && { observer }),
        ...more,
      });
      return reflector;
    };
    const isInNamespaces = namespaceNames.length > 0;
    const scopes = isInNamespaces ? namespaceNames : [undefined];
    /** Combines the scopes of a kind: the kind counts as readable once it can be read in all of them. */
    const inAll = (
      report: (first: UnavailableKind | null) => void,
      mayDoWithout: boolean,
    ): ((scope: string | undefined) => Pick<ReflectorOptions<Stored>, 'onUnavailable'>) => {
      const unread = new Map<string | undefined, UnavailableKind>();
      return (scope) => ({
        onUnavailable: (why, message, wasRead) => {
          if (why === null) unread.delete(scope);
          else unread.set(scope, { why, message, isIntended: mayDoWithout && !wasRead });
          const [first = null] = unread.values();
          report(first);
        },
      });
    };
    let isMocoMissing = false;
    /** Without MOCO there are no clusters. They appear once MOCO is installed. */
    const reportMoco = (missing: UnavailableKind | null): void => {
      if (!isMocoMissing && missing !== null) log.warn({}, mocoMissing);
      if (isMocoMissing && missing === null) log.info({}, mocoFound);
      isMocoMissing = missing !== null;
    };
    this.#reflectors = forEachCachedKind(cache, watched, (cached) => {
      const { kind } = cached;
      if (kind === clusterKind) {
        const where = inAll(reportMoco, false);
        return scopes.map((scope) => reflect(cached, scope, { onlyWhere: 'NotFound', ...where(scope) }));
      }
      if (kind.namespaced && kind !== jobs && kind !== evictionKind)
        return scopes.map((scope) => reflect(cached, scope, {}));
      const where = inAll((first) => cache.setUnavailable(kind.kind, first), isInNamespaces && !kind.namespaced);
      const named = kind === namespaces ? onlyNamed(cached, namespaceNames) : cached;
      return (kind.namespaced ? scopes : [undefined]).map((scope) => reflect(named, scope, where(scope)));
    }).flat();
  }

  /**
   * Lists one kind after another, so that their pages do not accumulate in memory. Each watch continues from the list
   * of its kind. After an abort, the remaining watches end as soon as they start. Rejects with `RewoundError` if etcd
   * was restored from a backup, because nothing that this process remembers can then be compared with what it reads.
   */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    for (const reflector of this.#reflectors) {
      const run = reflector.run(signal);
      // This watch may fail before all watches are awaited.
      run.catch(() => undefined);
      running.push(run);
      await reflector.synced;
    }
    await Promise.all(running);
  }

  get hasSynced(): boolean {
    return this.#reflectors.every((reflector) => reflector.hasSynced);
  }

  /** Resolves once every kind has been listed, or when `run` ends. */
  async synced(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.synced));
  }
}

function onlyNamed<R extends Stored>(cached: CachedKind<R>, names: readonly string[]): CachedKind<R> {
  if (names.length === 0) return cached;
  const project: CachedKind<R>['project'] = (raw) => {
    const record = cached.project(raw);
    return record !== null && names.includes(record.name) ? record : null;
  };
  return { ...cached, project };
}
