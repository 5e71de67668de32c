import { type MySQLRollout, rolloutKind, usedOf } from '../api/rollout.ts';
import { type PolicyRecord, policyKind, projectPolicy } from '../api/rollout-policy.ts';
import { isPossibleSize } from '../core/situation.ts';
import type { ApiClient, Call } from '../kube/api-client.ts';
import { isForbidden, isNotFound, withoutRequest } from '../kube/api-error.ts';
import { allOrAbort } from '../kube/delay.ts';
import { pagesOf } from '../kube/list-watch.ts';
import {
  controllerRevisions,
  events,
  jobs,
  nodes,
  path,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  type ResourcePlace,
  statefulSets,
} from '../kube/resource.ts';
import type { Priority, Reservation } from '../kube/token-bucket.ts';
import { type ImageReport, imageReport } from '../moco/in-place/images.ts';
import { objects as items, type Json, object, text, whole } from '../moco/json.ts';
import { clusterKind } from '../moco/names.ts';
import {
  jobSelectorOf,
  projectBudget,
  projectCluster,
  projectJob,
  projectPod,
  projectStatefulSet,
  statefulSetName,
} from '../moco/projections.ts';
import type { ClusterObjects, ClusterRecord, StatefulSetRecord } from '../moco/records.ts';
import { selects } from '../moco/selects.ts';
import { templateOf } from '../moco/template-changes.ts';

export interface LiveObjects {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
}

const pageSize = 500;

/** Reads one cluster without any cache: no resourceVersion, so that etcd's quorum answers. Rejects with `ApiError`. */
export class ClusterReader {
  protected readonly client: ApiClient;
  protected readonly signal: AbortSignal;
  protected readonly reservation: Reservation | undefined;

  /** All requests end with the signal. */
  constructor(client: ApiClient, signal: AbortSignal, reservation?: Reservation) {
    this.client = client;
    this.signal = signal;
    this.reservation = reservation;
  }

  /**
   * Reads the newest version of everything in `known`, at first in parallel. If every object still has the
   * resourceVersion that it has in `known`, all of them were as `known` has them at the moment of this call. Otherwise
   * everything is read again in order.
   */
  async readNewest(known: LiveObjects): Promise<LiveObjects | null> {
    const unordered = await this.#readUnordered(known.objects);
    return unordered && isSameVersion(known, unordered) ? unordered : this.readAll(known.objects);
  }

  /**
   * Reads everything without a cache (no resourceVersion: quorum reads). The MySQLCluster is read last, since a
   * failover shows there first. Resolves to `null` if it is gone. Objects are read by name: members have the ordinals
   * of the StatefulSet, and `known` has what else is in the cache. The API server answers a list of a kind without
   * recent writes only once its own cache has caught up with all other kinds, which it checks every 100 ms
   * (ConsistentListFromCache, Kubernetes 1.31 and later). So Jobs, to which people give names, are listed only where
   * one may be. A budget that the cache does not know yet is enforced by the eviction itself.
   */
  async readAll(known: ClusterObjects): Promise<LiveObjects | null> {
    const [statefulSet = null, rollout = null, ...budgets] = await this.#all((reader) => reader.#readFirst(known));
    const replicas = whole(object(statefulSet?.['spec'])['replicas'], 0);
    const [listed = null, ...members] = await this.#all((reader) => reader.#readNext(known, replicas));
    const { namespace, name } = known.cluster;
    const cluster = await this.read(clusterKind, { namespace, name });
    // The cache did not know of its policy.
    const isMissed = listed === null && cluster !== null && projectCluster(cluster)?.hasBackupPolicy === true;
    const jobList = isMissed ? await this.#listJobs(known.cluster) : listed;
    return liveObjects(name, { cluster, statefulSet, rollout, jobList, budgets, members });
  }

  async #readUnordered(known: ClusterObjects): Promise<LiveObjects | null> {
    const { namespace, name } = known.cluster;
    const [cluster = null, statefulSet = null, rollout = null, ...others] = await this.#all((reader) => [
      reader.read(clusterKind, { namespace, name }),
      ...reader.#readFirst(known),
      ...reader.#readNext(known, known.statefulSet?.replicas ?? 0),
    ]);
    const { length } = budgetNames(known);
    const [jobList = null, ...members] = others.slice(length);
    const budgets = others.slice(0, length);
    return liveObjects(name, { cluster, statefulSet, rollout, jobList, budgets, members });
  }

  /** The StatefulSet, the MySQLRollout, then the budgets. */
  #readFirst(known: ClusterObjects): readonly Promise<Json | null>[] {
    const { namespace, name } = known.cluster;
    return [
      this.read(statefulSets, { namespace, name: statefulSetName(name) }),
      this.read(rolloutKind, { namespace, name }),
      ...budgetNames(known).map((budget) => this.read(podDisruptionBudgets, { namespace, name: budget })),
    ];
  }

  /** The Jobs, or `null` where none may be, then the pods. */
  #readNext(known: ClusterObjects, replicas: number): readonly Promise<Json | null>[] {
    const { cluster } = known;
    const { namespace } = cluster;
    return [
      mayHaveJobs(known) ? this.#listJobs(cluster) : Promise.resolve(null),
      ...podNames(known, replicas).map((pod) => this.read(pods, { namespace, name: pod })),
    ];
  }

  /** Lists the Jobs of a cluster. Resolves to `{ unreadable }`, the API server's message, if they may not be read. */
  async #listJobs({ namespace, name }: ClusterRecord): Promise<Json> {
    const query = { labelSelector: jobSelectorOf(name) };
    try {
      const call = { method: 'GET', path: path(jobs, { namespace }), query, priority: 'disrupt' } as const;
      return await this.call<Json>(call);
    } catch (error) {
      if (isForbidden(error)) return { unreadable: withoutRequest(error as Error) };
      throw error;
    }
  }

  /** Reads an object with all its fields. Resolves to `null` if it is gone. */
  async read(kind: ResourceKind, place: ResourcePlace, priority: Priority = 'disrupt'): Promise<Json | null> {
    try {
      return await this.call<Json>({ method: 'GET', path: path(kind, place), priority });
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  /** Reads a MySQLRolloutPolicy. Resolves to `null` if it is gone. */
  async readPolicy(name: string): Promise<PolicyRecord | null> {
    const policy = await this.read(policyKind, { name });
    return policy && projectPolicy(policy);
  }

  /**
   * Has the API server admit a pod, as a dry run: nothing is stored. Rejects with its answer, which is never an
   * admitted pod of a name that exists.
   */
  async tryToCreatePod(body: Json, namespace: string): Promise<void> {
    const query = { dryRun: 'All' };
    await this.call({ method: 'POST', path: path(pods, { namespace }), query, body, priority: 'read', retries: 0 });
  }

  async listNodes(): Promise<readonly Json[]> {
    const options = { priority: 'read', signal: this.signal, reservation: this.reservation } as const;
    const found: unknown[] = [];
    for await (const page of pagesOf(this.client, { kind: nodes }, pageSize, options)) found.push(...page.items);
    return items(found);
  }

  /** Reads the StatefulSet controller's newest message about a pod that it could not create, or `null`. */
  async readCreateFailure({ namespace, name, uid }: StatefulSetRecord): Promise<string | null> {
    const fieldSelector = `regarding.kind=StatefulSet,regarding.name=${name},regarding.uid=${uid},reason=FailedCreate`;
    const list = await this.call<Json>({
      method: 'GET',
      path: path(events, { namespace }),
      query: { fieldSelector },
      priority: 'read',
    });
    const [newest] = items(list['items']).toSorted((a, b) => (happenedAt(a) < happenedAt(b) ? 1 : -1));
    return text(newest?.['note']);
  }

  /**
   * Reads the pod template of a revision of the StatefulSet. Resolves to `null` if it is no longer kept. A
   * ControllerRevision has the name of the revision, which is also the value of the pods' label.
   */
  async readTemplate(namespace: string, revision: string): Promise<Json | null> {
    const found = await this.read(controllerRevisions, { namespace, name: revision }, 'read');
    return found && templateOf(found);
  }

  /** What a node reports of an image. Resolves to `null` if nodes may not be read. */
  async readImage(node: string, image: string): Promise<ImageReport | null> {
    try {
      return imageReport(await this.read(nodes, { name: node }, 'read'), image);
    } catch (error) {
      if (isForbidden(error)) return null;
      throw error;
    }
  }

  protected call<T>(call: Omit<Call, 'signal' | 'reservation'>): Promise<T> {
    return this.client.call<T>({ ...call, signal: this.signal, reservation: this.reservation });
  }

  /** If one of these reads fails, the others are given up. */
  #all<T>(begin: (reader: ClusterReader) => readonly Promise<T>[]): Promise<readonly T[]> {
    return allOrAbort(this.signal, (signal) => begin(new ClusterReader(this.client, signal, this.reservation)));
  }
}

/** Where a list of Jobs is worth its time: people create Jobs from the CronJob that MOCO keeps for a backup policy. */
const mayHaveJobs = ({ cluster, jobs: known }: ClusterObjects): boolean => cluster.hasBackupPolicy || known.length > 0;

/** The StatefulSet, the MySQLRollout, the Jobs and the MySQLCluster. */
const readsOfOne = 4;
/** In parallel, and in order. */
const mostTimesRead = 2;

/**
 * The largest number of reads of one confirmation, apart from policies. It grows only with the cluster's own members
 * and budgets.
 */
export function mostReads(known: ClusterObjects): number {
  const replicas = Math.max(known.cluster.replicas, known.statefulSet?.replicas ?? 0);
  return mostTimesRead * (readsOfOne + budgetNames(known).length + podNames(known, replicas).length);
}

type Read = Json | null;

/** Of objects as the API server returned them. `jobList` is `null` if they were not listed. */
function liveObjects(
  name: string,
  raw: Record<'cluster' | 'statefulSet' | 'rollout' | 'jobList', Read> & Record<'budgets' | 'members', readonly Read[]>,
): LiveObjects | null {
  const cluster = raw.cluster && projectCluster(raw.cluster);
  if (cluster === null) return null;
  return {
    objects: {
      cluster,
      statefulSet: raw.statefulSet && projectStatefulSet(raw.statefulSet),
      pods: projected(raw.members, projectPod).filter(({ clusterName }) => clusterName === name),
      budgets: projected(raw.budgets, projectBudget),
      jobs: projected(items(raw.jobList?.['items']), projectJob),
      jobsUnreadable: text(raw.jobList?.['unreadable']),
    },
    rollout: raw.rollout && usedOf(raw.rollout as unknown as MySQLRollout),
  };
}

/**
 * Whether two views of a cluster have the same objects, each in the same version. `read` has the known budgets alone.
 */
function isSameVersion(known: LiveObjects, read: LiveObjects): boolean {
  const names = budgetNames(known.objects);
  const versions = ({ objects, rollout }: LiveObjects): readonly string[] => {
    const { cluster, statefulSet, jobs: active, budgets, pods: members } = objects;
    const selecting = budgets.filter(({ name }) => names.includes(name));
    const all = [cluster, statefulSet, rollout?.metadata, ...selecting, ...active, ...members];
    return all.flatMap((one) => (one ? [`${one.uid} ${one.resourceVersion}`] : []));
  };
  const [before, now] = [versions(known), new Set(versions(read))];
  return before.length === now.size && before.every((version) => now.has(version));
}

/** An RFC 3339 timestamp. Kubernetes' own controllers still write the deprecated fields. */
function happenedAt(event: Json): string {
  return (
    text(object(event['series'])['lastObservedTime']) ??
    text(event['deprecatedLastTimestamp']) ??
    text(event['eventTime']) ??
    ''
  );
}

/** MOCO's own budgets, and every other budget that is known to select a member. */
function budgetNames({ cluster, pods: members, budgets }: ClusterObjects): readonly string[] {
  const selecting = budgets.filter(({ selector }) => members.some(({ labels }) => selects(selector, labels)));
  return [...new Set([statefulSetName(cluster.name), ...selecting.map(({ name }) => name)])];
}

/** The names that the StatefulSet gives its members, unless its size is invalid, and the names of other known pods. */
function podNames({ cluster, pods: members }: ClusterObjects, replicas: number): readonly string[] {
  const given = Array.from(
    { length: isPossibleSize(replicas) ? replicas : 0 },
    (_, ordinal) => `${statefulSetName(cluster.name)}-${ordinal}`,
  );
  return [...new Set([...given, ...members.map(({ name }) => name)])];
}

function projected<R>(raw: readonly (Json | null)[], project: (object: Json) => R | null): readonly R[] {
  return raw.flatMap((one) => (one === null ? null : project(one)) ?? []);
}
