import { type MySQLRollout, partialRecord, type RolloutRecord, rolloutKind, wholeRecord } from '../api/rollout.ts';
import { type PolicyRecord, policyKind, projectPolicy } from '../api/rollout-policy.ts';
import { projectSequence, type SequenceRecord, sequenceKind } from '../api/rollout-sequence.ts';
import { type Json, object } from '../base/json.ts';
import { sortedVersions } from '../core/mysql-versions.ts';
import type { ReplicaCluster } from '../core/on-demand-facts.ts';
import type { Unavailable } from '../kube/reflector.ts';
import { jobs, namespaces, podDisruptionBudgets, pods, type ResourceKind, statefulSets } from '../kube/resource.ts';
import { keyOf, nameOf, Store, type Stored, splitKey } from '../kube/store.ts';
import { clusterKind, clusterNameLabel } from '../moco/names.ts';
import {
  jobSelector,
  memberSelector,
  projectBudget,
  projectCluster,
  projectJob,
  projectNamespace,
  projectPod,
  projectSlimPod,
  projectStatefulSet,
} from '../moco/projections.ts';
import type {
  BudgetRecord,
  ClusterObjects,
  ClusterRecord,
  JobRecord,
  NamespaceRecord,
  PodRecord,
  Selectable,
  StatefulSetRecord,
} from '../moco/records.ts';

// The cached objects of all kinds, and which clusters a change of an object concerns.

export interface UnavailableKind {
  readonly why: Unavailable;
  /** The API server's words. */
  readonly message: string;
  /**
   * The controller is not meant to read it: with `--namespaces`, a kind without a namespace that it could never read.
   */
  readonly isIntended: boolean;
}

type Owned = Stored & { readonly clusterName: string };

/** The key of the cluster that a StatefulSet, a pod or a Job belongs to. */
export const ownerKey = ({ namespace, clusterName }: Pick<Owned, 'namespace' | 'clusterName'>): string =>
  keyOf(namespace, clusterName);

const byCluster = { cluster: ownerKey };

export class Cache {
  readonly clusters = new Store<ClusterRecord>({ namespace: (cluster) => cluster.namespace });
  readonly statefulSets = new Store<StatefulSetRecord>(byCluster);
  readonly pods = new Store<PodRecord>({ ...byCluster, address: ({ agent }) => agent.ip });
  readonly budgets = new Store<BudgetRecord>({
    cluster: (budget) => namedCluster(budget),
    others: (budget) => (namedCluster(budget) === null ? budget.namespace : null),
  });
  readonly jobs = new Store<JobRecord>(byCluster);
  readonly rollouts = new Store<RolloutRecord>({});
  readonly policies = new Store<PolicyRecord>({});
  readonly sequences = new Store<SequenceRecord>({});
  readonly namespaces = new Store<NamespaceRecord>({});
  readonly #unavailable = new Map<string, UnavailableKind>();
  readonly #availabilityListeners: (() => void)[] = [];

  constructor() {
    this.clusters.subscribe(({ before, after }) => {
      const rollout = before && !after ? this.rollouts.get(before.namespace, before.name) : undefined;
      if (rollout && !rollout.partial) this.rollouts.put(partialRecord(rollout.object));
    });
  }

  /** Optional kinds. Their stores stay empty while the kinds cannot be read or do not exist. */
  get unavailable(): ReadonlyMap<string, UnavailableKind> {
    return this.#unavailable;
  }

  /** `null` once the kind can be read. */
  setUnavailable(kind: string, unavailable: UnavailableKind | null): void {
    if (unavailable === null) this.#unavailable.delete(kind);
    else this.#unavailable.set(kind, unavailable);
    for (const listener of this.#availabilityListeners) listener();
  }

  onChange(changed: (key: string) => void): void {
    const own = ({ before, after }: { before: Stored | null; after: Stored | null }): void => {
      const object = after ?? before;
      if (object) changed(nameOf(object));
    };
    const owned = ({ before, after }: { before: Owned | null; after: Owned | null }): void => {
      for (const key of new Set([before, after].filter((object) => object !== null).map(ownerKey))) changed(key);
    };
    const all = (clusters: readonly ClusterRecord[]): void => clusters.map(nameOf).forEach(changed);
    // An unknown object of the kind may concern any cluster.
    this.#availabilityListeners.push(() => all(this.clusters.values()));
    this.clusters.subscribe(own);
    this.rollouts.subscribe(own);
    this.statefulSets.subscribe(owned);
    this.pods.subscribe(owned);
    this.jobs.subscribe(owned);
    this.budgets.subscribe(({ before, after }) => {
      for (const key of new Set([before, after].flatMap((budget) => this.#concerned(budget)))) changed(key);
    });
    this.policies.subscribe(({ before, after }) => {
      // Which clusters a policy selects depends on the labels of namespaces. Queueing all clusters is cheap.
      if (before?.generation !== after?.generation) all(this.clusters.values());
    });
    this.namespaces.subscribe(({ before, after }) => {
      const name = after?.name ?? before?.name ?? '';
      if (!isSame(before?.labels, after?.labels)) all(this.clusters.by('namespace', name));
    });
  }

  /** Calls back after each change that the statuses of MySQLRolloutPolicies depend on. */
  onPolicyChange(changed: () => void): void {
    const on = <R extends Stored>(store: Store<R>, of: (record: R) => unknown): void => {
      store.subscribe(({ before, after }) => {
        if (!isSame(before && of(before), after && of(after))) changed();
      });
    };
    on(this.policies, ({ uid, generation }) => [uid, generation]);
    on(this.clusters, ({ labels, replicas, deleting }) => [labels, replicas, deleting]);
    on(this.rollouts, ({ uid, object }) => [uid, object.metadata.generation]);
    on(this.namespaces, ({ labels }) => labels);
  }

  /** Calls back after each change that the shares of namespaces depend on, which policies set. */
  onShareChange(changed: () => void): void {
    this.policies.subscribe(({ before, after }) => {
      if (before?.uid === after?.uid && before?.generation === after?.generation) return;
      if ([before, after].some((policy) => (policy?.maxNamespaceShare ?? null) !== null)) changed();
    });
    const isSet = (): boolean => this.policies.values().some(({ maxNamespaceShare }) => maxNamespaceShare !== null);
    this.namespaces.subscribe(({ before, after }) => {
      if (!isSame(before?.labels, after?.labels) && isSet()) changed();
    });
    this.#availabilityListeners.push(() => {
      if (isSet()) changed();
    });
  }

  /** The cached objects of a cluster, or `null` if there is no such MySQLCluster. */
  objects(key: string): ClusterObjects | null {
    const [namespace, name] = splitKey(key);
    const cluster = this.clusters.get(namespace, name);
    if (!cluster) return null;
    const jobsUnreadable = this.#jobsUnreadable;
    return {
      cluster,
      statefulSet: this.statefulSets.by('cluster', key)[0] ?? null,
      pods: this.pods.by('cluster', key),
      budgets: [...this.budgets.by('cluster', key), ...this.budgets.by('others', namespace)],
      jobs: jobsUnreadable === null ? this.jobs.by('cluster', key) : [],
      jobsUnreadable,
    };
  }

  /**
   * The clusters with a source elsewhere whose members have these IP addresses, with the oldest mysqld of each.
   *
   * @param source the key of the cluster that they replicate from
   */
  replicaClustersAt(addresses: readonly string[], source: string): readonly ReplicaCluster[] {
    const keys = addresses.flatMap((address) => this.pods.by('address', address).map(ownerKey));
    return [...new Set(keys)].flatMap((key) => {
      const cluster = this.clusters.get(...splitKey(key));
      if (key === source || !cluster?.replicatesFromElsewhere) return [];
      const versions = sortedVersions(this.pods.by('cluster', key).map(({ mysqld }) => mysqld.version));
      return [{ cluster: key, version: versions[0] ?? null }];
    });
  }

  /** The settings of a cluster from all sources except its MySQLRollout. */
  settingsSources({ namespace, labels }: Pick<ClusterRecord, 'namespace' | 'labels'>): {
    readonly policies: readonly PolicyRecord[];
    readonly cluster: Selectable;
  } {
    // Labels that were read before the kind became unavailable may have changed since.
    const isKnown = !this.#unavailable.has(namespaces.kind);
    const namespaceLabels = (isKnown && this.namespaces.get('', namespace)?.labels) || null;
    return { policies: this.policies.values(), cluster: { namespace, labels, namespaceLabels } };
  }

  get #jobsUnreadable(): string | null {
    const unavailable = this.#unavailable.get(jobs.kind);
    return unavailable === undefined || unavailable.why === 'NotFound' ? null : unavailable.message;
  }

  /** MOCO's own budgets name their cluster. Any other budget may select any cluster of its namespace. */
  #concerned(budget: BudgetRecord | null): readonly string[] {
    if (budget === null) return [];
    const named = namedCluster(budget);
    return named === null ? this.clusters.by('namespace', budget.namespace).map(nameOf) : [named];
  }
}

/** All records are made in the same function, so their fields have the same order. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The only cluster whose pods a budget can select, if the budget names a cluster as MOCO's own does. */
export function namedCluster({ namespace, selector }: BudgetRecord): string | null {
  const name = selector?.matchLabels[clusterNameLabel];
  return name === undefined ? null : keyOf(namespace, name);
}

export interface CachedKind<R extends Stored> {
  readonly kind: ResourceKind;
  readonly labelSelector?: string;
  readonly store: Store<R>;
  readonly project: (raw: Json) => R | null;
}

/** Calls back for each kind that decisions need. Clusters come first, and pods, the most numerous kind, last. */
export function forEachCachedKind<Result>(
  cache: Cache,
  keepsLivePods: boolean,
  use: <R extends Stored>(cached: CachedKind<R>) => Result,
): readonly Result[] {
  const { clusters, rollouts, policies, sequences, budgets } = cache;
  const labelSelector = memberSelector;
  return [
    use({ kind: clusterKind, store: clusters, project: projectCluster }),
    use({ kind: rolloutKind, store: rollouts, project: (raw) => projectRolloutPartly(raw, cache) }),
    use({ kind: statefulSets, labelSelector, store: cache.statefulSets, project: projectStatefulSet }),
    use({ kind: policyKind, store: policies, project: projectPolicy }),
    use({ kind: sequenceKind, store: sequences, project: projectSequence }),
    use({ kind: namespaces, store: cache.namespaces, project: projectNamespace }),
    use({ kind: podDisruptionBudgets, store: budgets, project: projectBudget }),
    use({ kind: jobs, labelSelector: jobSelector, store: cache.jobs, project: projectJob }),
    use({ kind: pods, labelSelector, store: cache.pods, project: keepsLivePods ? projectPod : projectSlimPod }),
  ];
}

/** Clusters are listed first. The MySQLRollout of a cluster that appears later is read by name. */
function projectRolloutPartly(raw: Json, { clusters }: Pick<Cache, 'clusters'>): RolloutRecord {
  const rollout = { ...raw, metadata: object(raw['metadata']) } as unknown as MySQLRollout;
  const { namespace, name } = rollout.metadata;
  return clusters.get(namespace, name) === undefined ? partialRecord(rollout) : wholeRecord(rollout);
}
