import { type MySQLRollout, partialRecord, type RolloutRecord, rolloutKind, wholeRecord } from '../api/rollout.ts';
import { type PolicyRecord, policyKind, projectPolicy } from '../api/rollout-policy.ts';
import { projectSequence, type SequenceRecord, sequenceKind } from '../api/rollout-sequence.ts';
import { type Json, object } from '../base/json.ts';
import { mysqldOf } from '../core/member.ts';
import { sortedVersions } from '../core/mysql-versions.ts';
import type { ReplicaCluster } from '../core/on-demand-facts.ts';
import { isPossibleSize } from '../core/situation.ts';
import {
  type EvictionRecord,
  evictionKind,
  evictionSelector,
  isRequested,
  projectEviction,
} from '../evictions/eviction.ts';
import type { Unavailable } from '../kube/reflector.ts';
import {
  jobs,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../kube/resource.ts';
import { keyOf, nameOf, namespaceOfKey, Store, type Stored, splitKey } from '../kube/store.ts';
import { clusterKind, clusterNameLabel, jobSelector, memberSelector, statefulSetName } from '../moco/names.ts';
import type { LeavingSigns } from '../moco/node-maintenance.ts';
import { projectPod, projectSlimPod } from '../moco/pod-projection.ts';
import {
  projectBudget,
  projectCluster,
  projectJob,
  projectNamespace,
  projectNode,
  projectStatefulSet,
} from '../moco/projections.ts';
import type {
  BudgetRecord,
  ClusterObjects,
  ClusterRecord,
  JobRecord,
  NamespaceRecord,
  NodeRecord,
  PodRecord,
  Selectable,
  StatefulSetRecord,
} from '../moco/records.ts';

// The cached objects of all kinds, and which clusters a change of an object concerns.

export interface UnavailableKind {
  readonly why: Unavailable;
  /** The API server's message. */
  readonly message: string;
  /** Whether the controller is meant to read the kind. With `--namespaces` it never reads kinds without a namespace. */
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
  readonly pods = new Store<PodRecord>({ ...byCluster, address: ({ agent }) => agent.ip, node: ({ node }) => node });
  readonly budgets = new Store<BudgetRecord>({
    cluster: (budget) => namedCluster(budget),
    others: (budget) => (namedCluster(budget) === null ? budget.namespace : null),
  });
  readonly jobs = new Store<JobRecord>(byCluster);
  readonly rollouts = new Store<RolloutRecord>({});
  readonly policies = new Store<PolicyRecord>({});
  readonly sequences = new Store<SequenceRecord>({});
  readonly namespaces = new Store<NamespaceRecord>({});
  /** Empty unless the feature gate `EvictionRequests` is on. */
  readonly evictions = new Store<EvictionRecord>({ pod: ({ namespace, pod }) => keyOf(namespace, pod.uid) });
  /** Empty while the feature gate NodeMaintenance is off. */
  readonly nodes = new Store<NodeRecord>({});
  readonly #unavailable = new Map<string, UnavailableKind>();
  readonly #availabilityListeners: (() => void)[] = [];
  /**
   * The last pods of members with a mysqld that was killed, by their names. A pod may be gone before a pass has seen
   * how its mysqld ended. At most one pod for each member of a MySQLCluster.
   */
  readonly #killedPods = new Map<string, PodRecord>();

  constructor() {
    this.pods.subscribe(({ before, after }) => {
      if (after !== null || !hasEndedKilled(before)) return;
      if (this.clusters.get(before.namespace, before.clusterName)) this.#killedPods.set(nameOf(before), before);
    });
    this.clusters.subscribe(({ before, after }) => {
      if (after !== null) return;
      for (const [name, pod] of this.#killedPods) if (ownerKey(pod) === nameOf(before)) this.#killedPods.delete(name);
    });
    this.clusters.subscribe(({ before, after }) => {
      const rollout = before && !after ? this.rollouts.get(before.namespace, before.name) : undefined;
      if (rollout && !rollout.partial) this.rollouts.put(partialRecord(rollout.object));
    });
  }

  /** The optional kinds that cannot be read or do not exist. Their stores are empty. */
  get unavailable(): ReadonlyMap<string, UnavailableKind> {
    return this.#unavailable;
  }

  /** `unavailable` is `null` once the kind can be read. */
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
    // While a kind cannot be read, any of its objects may concern any cluster.
    this.#availabilityListeners.push(() => all(this.clusters.values()));
    this.clusters.subscribe(own);
    this.rollouts.subscribe(own);
    this.statefulSets.subscribe(owned);
    this.pods.subscribe(owned);
    this.jobs.subscribe(owned);
    this.budgets.subscribe(({ before, after }) => {
      for (const key of new Set([before, after].flatMap((budget) => this.#concerned(budget)))) changed(key);
    });
    this.evictions.subscribe(({ before, after }) => {
      // The cluster has to know which of its members must leave. It does not need heartbeats, which this program itself
      // writes.
      if ((before !== null && isRequested(before)) === (after !== null && isRequested(after))) return;
      const key = this.clusterOf(after ?? before);
      if (key !== null) changed(key);
    });
    this.policies.subscribe(({ before, after }) => {
      // A policy may select any cluster, because it selects by the labels of namespaces as well. Queueing all clusters
      // is cheap.
      if (before?.generation !== after?.generation) all(this.clusters.values());
    });
    this.namespaces.subscribe(({ before, after }) => {
      const name = after?.name ?? before?.name ?? '';
      if (!isSame(before?.labels, after?.labels)) all(this.clusters.by('namespace', name));
    });
    // Clusters without members on the node may wait as well until the node is no longer being taken out of service.
    this.nodes.subscribe(({ before, after }) => {
      if ((before?.leaving ?? null) !== (after?.leaving ?? null)) all(this.clusters.values());
    });
  }

  /** Calls `changed` after each change that may affect the statuses of MySQLRolloutPolicies. */
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

  /** Calls `changed` after each change that may affect the shares that policies set for namespaces. */
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

  /** The key of the cluster that the Eviction's pod belongs to. `null` if the pod is no member or is not cached. */
  clusterOf(eviction: EvictionRecord | null): string | null {
    const pod = eviction && this.pods.get(eviction.namespace, eviction.pod.name);
    return pod && pod.uid === eviction.pod.uid ? ownerKey(pod) : null;
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
      killedPods: this.#killedPodsOf(cluster),
    };
  }

  #killedPodsOf({ namespace, name, replicas }: ClusterRecord): NonNullable<ClusterObjects['killedPods']> {
    if (this.#killedPods.size === 0 || !isPossibleSize(replicas)) return [];
    return Array.from({ length: replicas }, (_, ordinal) => keyOf(namespace, `${statefulSetName(name)}-${ordinal}`))
      .map((key) => this.#killedPods.get(key))
      .filter((pod) => pod !== undefined);
  }

  /**
   * The clusters that replicate from elsewhere and have a member at one of these IP addresses, each with the oldest
   * MySQL version among its members. Clusters of other namespaces have no name here, because the reports of a mysqld
   * are not verified, and its tenant sees the sentences about them.
   *
   * @param source the key of the cluster that they replicate from
   */
  replicaClustersAt(addresses: readonly string[], source: string): readonly ReplicaCluster[] {
    const keys = addresses.flatMap((address) => this.pods.by('address', address).map(ownerKey));
    return [...new Set(keys)].flatMap((key) => {
      const cluster = this.clusters.get(...splitKey(key));
      if (key === source || !cluster?.replicatesFromElsewhere) return [];
      const versions = sortedVersions(this.pods.by('cluster', key).map(({ mysqld }) => mysqld.version));
      const isOwn = namespaceOfKey(key) === namespaceOfKey(source);
      return [{ cluster: isOwn ? key : null, version: versions[0] ?? null }];
    });
  }

  /** The settings of a cluster from all sources except its MySQLRollout. */
  settingsSources({ namespace, labels }: Pick<ClusterRecord, 'namespace' | 'labels'>): {
    readonly policies: readonly PolicyRecord[];
    readonly cluster: Selectable;
  } {
    // If namespaces can no longer be read, labels that were read earlier may be out of date.
    const isKnown = !this.#unavailable.has(namespaces.kind);
    const namespaceLabels = (isKnown && this.namespaces.get('', namespace)?.labels) || null;
    return { policies: this.policies.values(), cluster: { namespace, labels, namespaceLabels } };
  }

  get #jobsUnreadable(): string | null {
    const unavailable = this.#unavailable.get(jobs.kind);
    return unavailable === undefined || unavailable.why === 'NotFound' ? null : unavailable.message;
  }

  /**
   * The clusters that a budget concerns. MOCO's own budget names its cluster. Any other budget may select any cluster
   * of its namespace.
   */
  #concerned(budget: BudgetRecord | null): readonly string[] {
    if (budget === null) return [];
    const named = namedCluster(budget);
    return named === null ? this.clusters.by('namespace', budget.namespace).map(nameOf) : [named];
  }
}

const hasEndedKilled = (pod: PodRecord): boolean => pod.mysqldKilled && mysqldOf(pod)?.state === 'terminated';

/** Comparing JSON is sufficient, because one function makes all records, with their fields in the same order. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * If the budget names a cluster, as MOCO's own budgets do, the key of that cluster. The budget can select pods of no
 * other cluster.
 */
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

/** What is watched and kept in addition, for features that are off by default. */
export interface Watched {
  /** Whether pods are kept with the fields of running pods that updates in place need. */
  readonly keepsLivePods: boolean;
  /** What shows that a node is being taken out of service; `null` if nodes are not watched. */
  readonly leavingSigns: LeavingSigns | null;
  /** Whether Evictions of lifecycle.k8s.io are read. This needs the feature gate `EvictionRequests`. */
  readonly readsEvictions?: boolean;
}

export const leastWatched: Watched = { keepsLivePods: false, leavingSigns: null };

/**
 * Calls `use` for each kind that decisions need. Clusters come first. Pods, the most numerous kind, come near the end.
 */
export function forEachCachedKind<Result>(
  cache: Cache,
  { keepsLivePods, leavingSigns: signs, readsEvictions = false }: Watched,
  use: <R extends Stored>(cached: CachedKind<R>) => Result,
): readonly Result[] {
  const { clusters, rollouts, policies, sequences, budgets, evictions } = cache;
  const labelSelector = memberSelector;
  return [
    use({ kind: clusterKind, store: clusters, project: projectCluster }),
    use({ kind: rolloutKind, store: rollouts, project: (raw) => projectRolloutPartly(raw, cache) }),
    use({ kind: statefulSets, labelSelector, store: cache.statefulSets, project: projectStatefulSet }),
    use({ kind: policyKind, store: policies, project: projectPolicy }),
    use({ kind: sequenceKind, store: sequences, project: projectSequence }),
    use({ kind: namespaces, store: cache.namespaces, project: projectNamespace }),
    ...(signs === null ? [] : [use({ kind: nodes, store: cache.nodes, project: (raw) => projectNode(raw, signs) })]),
    use({ kind: podDisruptionBudgets, store: budgets, project: projectBudget }),
    use({ kind: jobs, labelSelector: jobSelector, store: cache.jobs, project: projectJob }),
    use({ kind: pods, labelSelector, store: cache.pods, project: keepsLivePods ? projectPod : projectSlimPod }),
    // Evictions come after the pods, because the pod of an Eviction determines its cluster.
    ...(readsEvictions
      ? [use({ kind: evictionKind, labelSelector: evictionSelector, store: evictions, project: projectEviction })]
      : []),
  ];
}

/** Clusters are listed first. If a cluster appears only later, its MySQLRollout is read by name. */
function projectRolloutPartly(raw: Json, { clusters }: Pick<Cache, 'clusters'>): RolloutRecord {
  const rollout = { ...raw, metadata: object(raw['metadata']) } as unknown as MySQLRollout;
  const { namespace, name } = rollout.metadata;
  return clusters.get(namespace, name) === undefined ? partialRecord(rollout) : wholeRecord(rollout);
}
