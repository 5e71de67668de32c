import { policyKind, projectPolicy } from '../../api/policy.ts';
import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/sequence.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { Log } from '../../kube/log.ts';
import { Reflector, type ReflectorOptions, type Unavailable } from '../../kube/reflector.ts';
import {
  cronJobs,
  namespaces,
  path,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../kube/resource.ts';
import type { Store, Stored } from '../../kube/store.ts';
import type { World } from '../../kube/world.ts';
import { type Json, object } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import {
  createdBySelector,
  memberSelector,
  projectBackup,
  projectBudget,
  projectCluster,
  projectNamespace,
  projectPod,
  projectSlimPod,
  projectStatefulSet,
} from '../../moco/projections.ts';
import type { CacheMetrics } from '../../telemetry/cache-metrics.ts';
import type { Cache } from './cache.ts';
import { partialRecord, type RolloutRecord, wholeRecord } from './rollout-record.ts';
import { projectSequence } from './sequence-record.ts';

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
      kind: ResourceKind,
      store: Store<R>,
      project: (raw: Json) => R | null,
      more: Pick<ReflectorOptions<R>, 'path' | 'query' | 'onUnavailable' | 'onlyWhere'>,
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
        kind: kind.kind,
        ...(observer && { observer }),
        ...more,
      });
      return reflector;
    };
    const scopes = namespaceNames.length === 0 ? [undefined] : namespaceNames;
    const watch = <R extends Stored>(
      kind: ResourceKind,
      store: Store<R>,
      project: (raw: Json) => R | null,
      labelSelector?: string,
    ): readonly Watch[] =>
      scopes.map((namespace) =>
        reflect(kind, store, project, {
          path: path(kind, namespace === undefined ? {} : { namespace }),
          ...(labelSelector === undefined ? {} : { query: { labelSelector } }),
        }),
      );
    /** The watch of an optional cluster-scoped kind. */
    const watchWithout = <R extends Stored>(kind: ResourceKind, store: Store<R>, project: (raw: Json) => R | null) =>
      reflect(kind, store, project, {
        path: path(kind),
        onUnavailable: (why) => {
          if (why === null) cache.unavailable.delete(kind.kind);
          else cache.unavailable.set(kind.kind, why);
        },
      });
    /** Without MOCO there is nothing to do and nothing to wait for: clusters appear once it is installed. */
    const watchClusters = (): readonly Watch[] => {
      const missing = new Set<string>();
      const reported = (scope: string, why: Unavailable | null): void => {
        const before = missing.size;
        if (why === null) missing.delete(scope);
        else missing.add(scope);
        if (before === 0 && missing.size > 0) log.warn({}, mocoMissing);
        if (before > 0 && missing.size === 0) log.info({}, mocoFound);
      };
      return scopes.map((namespace) =>
        reflect(clusterKind, cache.clusters, projectCluster, {
          path: path(clusterKind, namespace === undefined ? {} : { namespace }),
          onlyWhere: 'NotFound',
          onUnavailable: (why) => reported(namespace ?? '', why),
        }),
      );
    };
    const isWatched = ({ name }: Stored): boolean => namespaceNames.length === 0 || namespaceNames.includes(name);
    this.#reflectors = [
      ...watchClusters(),
      ...watch(rolloutKind, cache.rollouts, (raw) => projectRollout(raw, cache)),
      ...watch(statefulSets, cache.statefulSets, projectStatefulSet, memberSelector),
      watchWithout(policyKind, cache.policies, projectPolicy),
      watchWithout(sequenceKind, cache.sequences, projectSequence),
      watchWithout(namespaces, cache.namespaces, (raw) => {
        const namespace = projectNamespace(raw);
        return isWatched(namespace) ? namespace : null;
      }),
      ...watch(podDisruptionBudgets, cache.budgets, projectBudget),
      ...watch(cronJobs, cache.backups, projectBackup, createdBySelector),
      ...watch(pods, cache.pods, keepsLivePods ? projectPod : projectSlimPod, memberSelector),
    ];
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

/** Clusters are listed first. The MySQLRollout of a cluster that appears later is read by name. */
function projectRollout(raw: Json, { clusters }: Pick<Cache, 'clusters'>): RolloutRecord {
  const rollout = { ...raw, metadata: object(raw['metadata']) } as unknown as MySQLRollout;
  const { namespace, name } = rollout.metadata;
  return clusters.get(namespace, name) === undefined ? partialRecord(rollout) : wholeRecord(rollout);
}
