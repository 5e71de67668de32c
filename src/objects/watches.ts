import type { ApiClient } from '../kube/api-client.ts';
import { Reflector, type ReflectorOptions, type Unavailable } from '../kube/reflector.ts';
import { jobs, namespaces } from '../kube/resource.ts';
import type { Stored } from '../kube/store.ts';
import type { Log, World } from '../kube/world.ts';
import { clusterKind } from '../moco/names.ts';
import type { CacheMetrics } from '../telemetry/runtime-metrics.ts';
import { type Cache, type CachedKind, forEachCachedKind, type UnavailableKind } from './cache.ts';

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
      more: Pick<ReflectorOptions<R>, 'onUnavailable' | 'onlyWhere'>,
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
        ...(labelSelector === undefined ? {} : { query: { labelSelector } }),
        ...(observer && { observer }),
        ...more,
      });
      return reflector;
    };
    const watchOptional = <R extends Stored>(cached: CachedKind<R>): Watch =>
      reflect(cached, undefined, {
        onUnavailable: (why, message, wasRead) => {
          const isIntended = namespaceNames.length > 0 && !wasRead;
          cache.setUnavailable(cached.kind.kind, why && { why, message, isIntended });
        },
      });
    const scopes = namespaceNames.length === 0 ? [undefined] : namespaceNames;
    const unread = new Map<string | undefined, UnavailableKind>();
    /** Jobs can be read once they can be read everywhere. */
    const watchJobs = <R extends Stored>(cached: CachedKind<R>, namespace: string | undefined): Watch =>
      reflect(cached, namespace, {
        onUnavailable: (why, message) => {
          if (why === null) unread.delete(namespace);
          else unread.set(namespace, { why, message, isIntended: false });
          const [first = null] = unread.values();
          cache.setUnavailable(cached.kind.kind, first);
        },
      });
    const missing = new Set<string>();
    /** Without MOCO there is nothing to do and nothing to wait for: clusters appear once it is installed. */
    const reportMoco = (scope: string, why: Unavailable | null): void => {
      const before = missing.size;
      if (why === null) missing.delete(scope);
      else missing.add(scope);
      if (before === 0 && missing.size > 0) log.warn({}, mocoMissing);
      if (before > 0 && missing.size === 0) log.info({}, mocoFound);
    };
    this.#reflectors = forEachCachedKind(cache, keepsLivePods, (cached) => {
      const { kind } = cached;
      if (kind === namespaces) return [watchOptional(onlyNamed(cached, namespaceNames))];
      if (!kind.namespaced) return [watchOptional(cached)];
      if (kind === jobs) return scopes.map((namespace) => watchJobs(cached, namespace));
      return scopes.map((namespace) =>
        reflect(
          cached,
          namespace,
          kind === clusterKind
            ? { onlyWhere: 'NotFound', onUnavailable: (why) => reportMoco(namespace ?? '', why) }
            : {},
        ),
      );
    }).flat();
  }

  /**
   * Lists one kind after another, so that their pages do not accumulate in memory. Each watch continues from its list.
   * Once aborted, the remaining watches end as soon as they start.
   */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    for (const reflector of this.#reflectors) {
      running.push(reflector.run(signal));
      await reflector.synced;
    }
    await Promise.all(running);
  }

  get hasSynced(): boolean {
    return this.#reflectors.every((reflector) => reflector.hasSynced);
  }

  /** Resolves once every kind has been listed, or once the run has ended before that. */
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
