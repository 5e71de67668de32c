import type { Log, World } from '../base/world.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { Reflector, type ReflectorOptions } from '../kube/reflector.ts';
import { jobs, namespaces } from '../kube/resource.ts';
import type { Stored } from '../kube/store.ts';
import { clusterKind } from '../moco/names.ts';
import type { CacheMetrics } from '../telemetry/runtime-metrics.ts';
import { type Cache, type CachedKind, forEachCachedKind, type UnavailableKind } from './cache.ts';

// Lists and watches every kind into the cache, in an order that keeps memory low.

interface Watch {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
}

const clusterApi = `${clusterKind.group}/${clusterKind.version}`;
const mocoMissing = `the API server does not serve ${clusterKind.kind}s as ${clusterApi}: MOCO is not installed, or its version is not supported; the controller waits until it does`;
const mocoFound = `the API server has ${clusterKind.kind}s as ${clusterApi} now`;

/** Keeps the cache up to date, for the given namespaces or, without any, for all of them. */
export class Watches {
  readonly #reflectors: readonly Watch[];

  constructor(
    cache: Cache,
    client: ApiClient,
    world: World,
    log: Log,
    namespaceNames: readonly string[],
    metrics?: CacheMetrics,
    keepsLivePods = false,
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
    /** A kind counts as readable once it can be read in every scope. */
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
    /** Without MOCO there is nothing to do and nothing to wait for: clusters appear once it is installed. */
    const reportMoco = (missing: UnavailableKind | null): void => {
      if (!isMocoMissing && missing !== null) log.warn({}, mocoMissing);
      if (isMocoMissing && missing === null) log.info({}, mocoFound);
      isMocoMissing = missing !== null;
    };
    this.#reflectors = forEachCachedKind(cache, keepsLivePods, (cached) => {
      const { kind } = cached;
      if (kind === clusterKind) {
        const where = inAll(reportMoco, false);
        return scopes.map((scope) => reflect(cached, scope, { onlyWhere: 'NotFound', ...where(scope) }));
      }
      if (kind.namespaced && kind !== jobs) return scopes.map((scope) => reflect(cached, scope, {}));
      const where = inAll((first) => cache.setUnavailable(kind.kind, first), isInNamespaces && !kind.namespaced);
      const named = kind === namespaces ? onlyNamed(cached, namespaceNames) : cached;
      return (kind.namespaced ? scopes : [undefined]).map((scope) => reflect(named, scope, where(scope)));
    }).flat();
  }

  /**
   * Lists one kind after another, so that their pages do not accumulate in memory. Each watch continues from its list.
   * Once aborted, the remaining watches end as soon as they start. Rejects with `RewoundError` after etcd was restored
   * from a backup: nothing that this process remembers can be compared with what it reads from then on.
   */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    for (const reflector of this.#reflectors) {
      const run = reflector.run(signal);
      // It may end before all of the watches are awaited.
      run.catch(() => undefined);
      running.push(run);
      await reflector.synced;
    }
    await Promise.all(running);
  }

  get hasSynced(): boolean {
    return this.#reflectors.every((reflector) => reflector.hasSynced);
  }

  /** Resolves once every kind has been listed, or when the run ends before that. */
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
