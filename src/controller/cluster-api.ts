import type { Target } from '../core/decision.ts';
import { isPossibleSize } from '../core/situation.ts';
import type { ApiClient, Call } from '../kube/api-client.ts';
import { isNotFound } from '../kube/api-error.ts';
import type { Reservation } from '../kube/reservation.ts';
import {
  controllerRevisions,
  cronJobs,
  events,
  path,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../kube/resource.ts';
import { together } from '../kube/together.ts';
import { objects as items, type Json, object, text, whole } from '../moco/json.ts';
import { selects } from '../moco/label-selector.ts';
import { clusterKind } from '../moco/names.ts';
import {
  backupName,
  projectBackup,
  projectBudget,
  projectCluster,
  projectPod,
  projectStatefulSet,
  statefulSetName,
} from '../moco/projections.ts';
import type { ClusterObjects, StatefulSetRecord } from '../moco/records.ts';
import { type PolicyRecord, policyKind, projectPolicy } from './policy-resource.ts';
import { usedOf } from './rollout-record.ts';
import { type MySQLRollout, type RolloutStatus, rolloutKind } from './rollout-resource.ts';

/** A cluster's objects as the API server has them at this moment. */
export interface LiveObjects {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
}

/** What a merge patch of a StatefulSet changes; `status` goes to its subresource. */
export interface StatefulSetPatch {
  readonly labels?: Json;
  readonly annotations?: Json;
  readonly spec?: Json;
  readonly status?: Json;
}

const annotated = { Pod: pods, StatefulSet: statefulSets } as const;

const mergePatch = 'application/merge-patch+json';

/**
 * Every read and write of one reconciliation, as the API server is to see it. Writes carry uid and resourceVersion, so
 * that each of them applies to the very object that was decided about or fails with 409. Those to pods and
 * to the StatefulSet are sent once: by the time of a second try what was confirmed before the first would be too old. Rejects with `ApiError`.
 */
export class ClusterApi {
  readonly #client: ApiClient;
  readonly #isStillWanted: () => boolean;
  readonly #reservation: Reservation | undefined;

  constructor(client: ApiClient, isStillWanted: () => boolean = () => true, reservation?: Reservation) {
    this.#client = client;
    this.#isStillWanted = isStillWanted;
    this.#reservation = reservation;
  }

  /** The same, but that a write to pods or to the StatefulSet is sent only while it is wanted, however long it waits. */
  sendingWhile(isStillWanted: () => boolean): ClusterApi {
    return new ClusterApi(this.#client, isStillWanted, this.#reservation);
  }

  /**
   * Waits until the client's rate limit allows all that a disruption needs, and gives that to `work`: from then on nothing
   * waits for its turn. So no more disruptions are confirmed at a time than the rate limit can serve. `null` when the
   * signal is aborted before.
   */
  async withTokens<T>(
    known: ClusterObjects,
    targets: number,
    signal: AbortSignal,
    work: (api: ClusterApi) => Promise<T>,
  ): Promise<T | null> {
    const calls = mostReads(known) + intentWrites + targets;
    const reservation = await this.#client.reserve('disrupt', calls, signal);
    if (reservation === null) return null;
    try {
      return await work(new ClusterApi(this.#client, this.#isStillWanted, reservation));
    } finally {
      reservation.end();
    }
  }

  /**
   * Reads past every cache (no resourceVersion: quorum reads). The MySQLCluster comes last, since a failover shows
   * there first. `null` when it is gone. What there is to read is known by name: members have the StatefulSet's
   * ordinals, and `known` brings what else the cache has. By name, because the API server answers a list of a kind that
   * nobody has written to lately only when its own cache has caught up with every other kind, which it looks after every
   * 100 ms (ConsistentListFromCache, Kubernetes 1.31 and later). A budget that the cache doesn't know yet is asked by
   * the eviction itself.
   */
  async readAll(known: ClusterObjects, signal: AbortSignal): Promise<LiveObjects | null> {
    const { namespace, name } = known.cluster;
    const [statefulSet = null, rollout = null, ...budgets] = await together(signal, (read) => [
      this.#find(statefulSets, namespace, statefulSetName(name), read),
      this.#find(rolloutKind, namespace, name, read),
      ...budgetNames(known).map((budget) => this.#find(podDisruptionBudgets, namespace, budget, read)),
    ]);
    const replicas = whole(object(statefulSet?.['spec'])['replicas'], 0);
    const [backup = null, ...members] = await together(signal, (read) => [
      // MOCO closes the PodDisruptionBudget a while after a backup has begun, and a cluster of one has none.
      this.#find(cronJobs, namespace, backupName(name), read),
      ...podNames(known, replicas).map((pod) => this.#find(pods, namespace, pod, read)),
    ]);
    const cluster = await this.#find(clusterKind, namespace, name, signal);
    const record = cluster === null ? null : projectCluster(cluster);
    if (record === null) return null;
    return {
      objects: {
        cluster: record,
        statefulSet: statefulSet === null ? null : projectStatefulSet(statefulSet),
        pods: projected(members, projectPod).filter(({ clusterName }) => clusterName === name),
        budgets: projected(budgets, projectBudget),
        backup: backup === null ? null : projectBackup(backup),
      },
      rollout: rollout === null ? null : usedOf(rollout as unknown as MySQLRollout),
    };
  }

  /** A MySQLRolloutPolicy as it is at this moment, `null` when it is gone. */
  async readPolicy(name: string, signal: AbortSignal): Promise<PolicyRecord | null> {
    const policy = await this.#find(policyKind, undefined, name, signal);
    return policy && projectPolicy(policy);
  }

  /** The MySQLCluster as it is, with every field. `null` when it is gone. */
  readCluster(namespace: string, name: string, signal: AbortSignal): Promise<Json | null> {
    return this.#find(clusterKind, namespace, name, signal);
  }

  async readRollout(namespace: string, name: string, signal: AbortSignal): Promise<MySQLRollout | null> {
    const rollout = await this.#find(rolloutKind, namespace, name, signal);
    return rollout === null ? null : usedOf(rollout as unknown as MySQLRollout);
  }

  read(kind: 'Pod' | 'StatefulSet', namespace: string, name: string, signal: AbortSignal): Promise<Json | null> {
    return this.#find(annotated[kind], namespace, name, signal, 'disrupt');
  }

  /** The newest sentence of the StatefulSet controller about a pod that it could not make, or `null`. */
  async readCreateFailure({ namespace, name, uid }: StatefulSetRecord, signal: AbortSignal): Promise<string | null> {
    const fieldSelector = `regarding.kind=StatefulSet,regarding.name=${name},regarding.uid=${uid},reason=FailedCreate`;
    const list = await this.#call<Json>({
      method: 'GET',
      path: path(events, { namespace }),
      query: { fieldSelector },
      lane: 'read',
      signal,
    });
    const [newest] = items(list['items']).toSorted((a, b) => (happenedAt(a) < happenedAt(b) ? 1 : -1));
    return text(newest?.['note']);
  }

  /**
   * The pod template of one of the StatefulSet's revisions, `null` where it is no longer kept. A ControllerRevision has
   * the revision's own name, which is also the value of the pods' label.
   */
  async readTemplate(namespace: string, revision: string, signal: AbortSignal): Promise<Json | null> {
    const found = await this.#find(controllerRevisions, namespace, revision, signal, 'read');
    return found && object(object(object(found['data'])['spec'])['template']);
  }

  createRollout(cluster: ClusterObjects['cluster'], signal: AbortSignal): Promise<MySQLRollout> {
    const { namespace, name, uid } = cluster;
    return this.#call({
      method: 'POST',
      path: path(rolloutKind, { namespace }),
      body: {
        apiVersion: `${rolloutKind.group}/${rolloutKind.version}`,
        kind: rolloutKind.kind,
        metadata: {
          namespace,
          name,
          ownerReferences: [
            {
              apiVersion: `${clusterKind.group}/${clusterKind.version}`,
              kind: clusterKind.kind,
              name,
              uid,
              controller: true,
            },
          ],
        },
      },
      lane: 'status',
      signal,
    });
  }

  /**
   * Replaces the status; its resourceVersion is the precondition that fences a second leader and a user's edit. Resolves
   * to what the API server keeps of it, or with `dryRun` would keep.
   */
  async replaceRolloutStatus(
    rollout: MySQLRollout,
    status: RolloutStatus,
    lane: 'disrupt' | 'status',
    signal: AbortSignal,
    dryRun = false,
  ): Promise<MySQLRollout> {
    const { namespace, name } = rollout.metadata;
    const kept = await this.#call<MySQLRollout>({
      method: 'PUT',
      path: path(rolloutKind, { namespace, name, subresource: 'status' }),
      ...(dryRun && { query: { dryRun: 'All' } }),
      body: { ...rollout, status },
      lane,
      signal,
    });
    return usedOf(kept);
  }

  replaceClusterStatus(cluster: Json, namespace: string, name: string, signal: AbortSignal): Promise<Json> {
    return this.#call({
      method: 'PUT',
      path: path(clusterKind, { namespace, name, subresource: 'status' }),
      body: cluster,
      lane: 'status',
      signal,
    });
  }

  /** With the pod's own grace period, never less. */
  deletePod(namespace: string, { name, uid, resourceVersion }: Target, signal: AbortSignal): Promise<unknown> {
    return this.#call({
      method: 'DELETE',
      path: path(pods, { namespace, name }),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } },
      lane: 'disrupt',
      retries: 0,
      isStillWanted: this.#isStillWanted,
      signal,
    });
  }

  /** Rejects with 429 where a PodDisruptionBudget refuses. */
  evictPod(namespace: string, { name, uid, resourceVersion }: Target, signal: AbortSignal): Promise<unknown> {
    return this.#call({
      method: 'POST',
      path: path(pods, { namespace, name, subresource: 'eviction' }),
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace, name },
        deleteOptions: { preconditions: { uid, resourceVersion } },
      },
      lane: 'disrupt',
      retries: 0,
      isStillWanted: this.#isStillWanted,
      signal,
    });
  }

  /** `null` takes an annotation away. Resolves to the object's new resourceVersion. */
  async annotate(
    kind: 'Pod' | 'StatefulSet',
    namespace: string,
    { name, uid, resourceVersion }: Omit<Target, 'ordinal'>,
    annotations: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<string> {
    const after = await this.#call<{ metadata: { resourceVersion: string } }>({
      method: 'PATCH',
      path: path(annotated[kind], { namespace, name }),
      contentType: mergePatch,
      body: { metadata: { uid, resourceVersion, annotations } },
      lane: 'disrupt',
      retries: 0,
      isStillWanted: this.#isStillWanted,
      signal,
    });
    return after.metadata.resourceVersion;
  }

  /** Resolves to the StatefulSet as the patch and every webhook have left it, or with `dryRun` would leave it. */
  async patchStatefulSet(
    { namespace, name, uid, resourceVersion }: StatefulSetRecord,
    patch: StatefulSetPatch,
    signal: AbortSignal,
    dryRun = false,
  ): Promise<StatefulSetRecord | null> {
    const { labels, annotations, spec, status } = patch;
    const raw = await this.#call<Json>({
      method: 'PATCH',
      path: path(statefulSets, status ? { namespace, name, subresource: 'status' } : { namespace, name }),
      ...(dryRun && { query: { dryRun: 'All' } }),
      contentType: mergePatch,
      body: {
        metadata: { uid, resourceVersion, ...(labels && { labels }), ...(annotations && { annotations }) },
        ...(spec && { spec }),
        ...(status && { status }),
      },
      lane: 'disrupt',
      retries: 0,
      isStillWanted: this.#isStillWanted,
      signal,
    });
    return projectStatefulSet(raw);
  }

  #call<T>(call: Call): Promise<T> {
    return this.#client.call<T>({ ...call, reservation: this.#reservation });
  }

  async #find(
    kind: ResourceKind,
    namespace: string | undefined,
    name: string,
    signal: AbortSignal,
    lane: 'disrupt' | 'read' = 'disrupt',
  ): Promise<Json | null> {
    try {
      const target = path(kind, namespace === undefined ? { name } : { namespace, name });
      return await this.#call<Json>({ method: 'GET', path: target, lane, signal });
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }
}

/** The StatefulSet, the MySQLRollout, the policy, the backup and the MySQLCluster. */
const readsOfOne = 5;
const intentWrites = 1;

/** As many as a confirmation sends at most. It grows with the cluster's own members and budgets, and with nothing else. */
function mostReads(known: ClusterObjects): number {
  const replicas = Math.max(known.cluster.replicas, known.statefulSet?.replicas ?? 0);
  return readsOfOne + budgetNames(known).length + podNames(known, replicas).length;
}

/** RFC 3339. Kubernetes' own controllers still write the deprecated fields. */
function happenedAt(event: Json): string {
  return (
    text(object(event['series'])['lastObservedTime']) ??
    text(event['deprecatedLastTimestamp']) ??
    text(event['eventTime']) ??
    ''
  );
}

/** MOCO's own, and every other that is known to select a member. */
function budgetNames({ cluster, pods: members, budgets }: ClusterObjects): readonly string[] {
  const selecting = budgets.filter(({ selector }) => members.some(({ labels }) => selects(selector, labels)));
  return [...new Set([statefulSetName(cluster.name), ...selecting.map(({ name }) => name)])];
}

/** The names that the StatefulSet gives to its members, unless it is of no possible size, and those of others. */
function podNames({ cluster, pods: members }: ClusterObjects, replicas: number): readonly string[] {
  const given = Array.from(
    { length: isPossibleSize(replicas) ? replicas : 0 },
    (_, ordinal) => `${statefulSetName(cluster.name)}-${ordinal}`,
  );
  return [...new Set([...given, ...members.map(({ name }) => name)])];
}

function projected<R>(raw: readonly (Json | null)[], project: (object: Json) => R | null): readonly R[] {
  return raw.map((one) => (one === null ? null : project(one))).filter((record) => record !== null);
}
