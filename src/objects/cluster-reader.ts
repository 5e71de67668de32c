import { type MySQLRollout, rolloutKind, usedOf } from '../api/rollout.ts';
import { allOrAbort } from '../base/delay.ts';
import { objects as items, type Json, object, text } from '../base/json.ts';
import { isPossibleSize } from '../core/situation.ts';
import type { ApiClient, Call } from '../kube/api-client.ts';
import { isForbidden, isNotFound, isNotFoundByName, withoutRequest } from '../kube/api-error.ts';
import { isProvenAbsent } from '../kube/discovery.ts';
import { pagesOf } from '../kube/list-watch.ts';
import {
  controllerRevisions,
  events,
  jobs,
  nodes,
  path,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  type ResourcePlace,
  statefulSets,
} from '../kube/resource.ts';
import type { Priority, Reservation } from '../kube/token-bucket.ts';
import { type ImageReport, imageReport } from '../moco/in-place/images.ts';
import { clusterKind, jobSelectorOf, statefulSetName } from '../moco/names.ts';
import { projectPod } from '../moco/pod-projection.ts';
import { projectBudget, projectCluster, projectJob, projectStatefulSet } from '../moco/projections.ts';
import type { ClusterObjects, ClusterRecord, StatefulSetRecord } from '../moco/records.ts';
import { selects } from '../moco/selects.ts';
import { templateOf } from '../moco/template-changes.ts';

// Every read that a pass may send about one cluster. A confirmation uses these reads, which bypass the cache.

export interface LiveObjects {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
}

/** The fields of a request for which there are no usual values. */
export type OnceCall = Pick<Call, 'method' | 'path' | 'query' | 'body' | 'contentType' | 'mostBytes' | 'mostValues'>;

const pageSize = 500;
/**
 * Kubernetes writes only a few Events with the same reason about a StatefulSet, but a tenant may write any number of
 * them.
 */
const mostEvents = 100;
/**
 * The limit for a list that is read without pages from a namespace in which a tenant may create any number of objects.
 * The Job of a backup or the pod of a preflight takes up about 10 KB and contains a few hundred values; an Event takes
 * up 1 KB.
 */
export const mostListed = { mostBytes: 16 * 1024 * 1024, mostValues: 500_000 } as const;

/**
 * Reads one cluster without any cache. Requests contain no resourceVersion, so they are quorum reads of etcd. Rejects
 * with `ApiError`.
 */
export class ClusterReader {
  protected readonly client: ApiClient;
  protected readonly signal: AbortSignal;
  protected readonly reservation: Reservation | undefined;

  /** When the signal is aborted, all requests end. */
  constructor(client: ApiClient, signal: AbortSignal, reservation?: Reservation) {
    this.client = client;
    this.signal = signal;
    this.reservation = reservation;
  }

  /**
   * Reads the newest version of everything in `known`, at first in parallel. If every object still has its
   * resourceVersion from `known`, all objects were in that state at the same time, when this call began. Otherwise
   * everything is read again in order.
   */
  async readNewest(known: LiveObjects): Promise<LiveObjects | null> {
    const unordered = await this.#readUnordered(known.objects);
    return unordered && isSameVersion(known, unordered) ? unordered : this.readAll(known.objects);
  }

  /**
   * Reads everything without a cache, as quorum reads without a resourceVersion. The MySQLCluster is read last, because
   * a failover shows there first. Resolves to `null` if the MySQLCluster is gone. Objects are read by name: the names
   * of members follow from the StatefulSet, and `known` contains the names of the other objects. A list of a kind
   * without recent writes would take up to 100 ms: the API server answers only once its own cache has caught up with
   * all other kinds, and checks that every 100 ms (ConsistentListFromCache, Kubernetes 1.31 and later). So Jobs, which
   * may have any name, are listed only if there may be one. A budget that the cache does not know yet is missing here,
   * but the API server applies it to the eviction.
   *
   * @param listsJobs whether to list Jobs. Pass true if there is no cache that knows whether Jobs exist.
   */
  async readAll(known: ClusterObjects, listsJobs = mayHaveJobs(known)): Promise<LiveObjects | null> {
    const first = await this.#allOrNone((reader) => reader.#readFirst(known));
    const replicas = first.statefulSet?.replicas ?? 0;
    const next = await this.#allOrNone((reader) => reader.#readNext(known, replicas, listsJobs));
    const cluster = await this.#readCluster(known);
    // The cluster has a backup policy that the cache did not know yet, so Jobs are listed after all.
    const isMissed = next.listed === null && cluster?.hasBackupPolicy === true;
    return liveObjectsOf(cluster, first, isMissed ? { ...next, listed: await this.#listJobs(cluster) } : next);
  }

  async #readUnordered(known: ClusterObjects): Promise<LiveObjects | null> {
    const [cluster, first, next] = await this.#allOrNone((reader) =>
      Promise.all([
        reader.#readCluster(known),
        reader.#readFirst(known),
        reader.#readNext(known, known.statefulSet?.replicas ?? 0, mayHaveJobs(known)),
      ]),
    );
    return liveObjectsOf(cluster, first, next);
  }

  async #readCluster({ cluster: { namespace, name } }: ClusterObjects): Promise<ClusterRecord | null> {
    const cluster = await this.read(clusterKind, { namespace, name });
    return cluster && projectCluster(cluster);
  }

  async #readFirst(known: ClusterObjects): Promise<ReadFirst> {
    const { namespace, name } = known.cluster;
    const [statefulSet, rollout, budgets] = await Promise.all([
      this.read(statefulSets, { namespace, name: statefulSetName(name) }),
      this.read(rolloutKind, { namespace, name }),
      this.#readNamed(podDisruptionBudgets, namespace, budgetNames(known)),
    ]);
    return {
      statefulSet: statefulSet && projectStatefulSet(statefulSet),
      rollout: rollout && usedOf(rollout as unknown as MySQLRollout),
      budgets: projected(budgets, projectBudget),
    };
  }

  async #readNext(known: ClusterObjects, replicas: number, listsJobs: boolean): Promise<ReadNext> {
    const { cluster } = known;
    const [listed, members] = await Promise.all([
      listsJobs ? this.#listJobs(cluster) : null,
      this.#readNamed(pods, cluster.namespace, podNames(known, replicas)),
    ]);
    return { listed, pods: projected(members, projectPod).filter(({ clusterName }) => clusterName === cluster.name) };
  }

  async #readNamed(kind: ResourceKind, namespace: string, names: readonly string[]): Promise<readonly Json[]> {
    const found = await Promise.all(names.map((name) => this.read(kind, { namespace, name })));
    return found.filter((one) => one !== null);
  }

  async #listJobs({ namespace, name }: ClusterRecord): Promise<ListedJobs> {
    const query = { labelSelector: jobSelectorOf(name) };
    try {
      const list = await this.call<Json>({
        method: 'GET',
        path: path(jobs, { namespace }),
        query,
        priority: 'disrupt',
        ...mostListed,
      });
      return { jobs: projected(items(list['items']), projectJob), jobsUnreadable: null };
    } catch (error) {
      if (isForbidden(error)) return { jobs: [], jobsUnreadable: withoutRequest(error as Error) };
      throw error;
    }
  }

  /**
   * Reads an object with all its fields. Resolves to `null` if the object does not exist, or if the server has no such
   * kind.
   */
  async read(kind: ResourceKind, place: ResourcePlace, priority: Priority = 'disrupt'): Promise<Json | null> {
    try {
      return await this.#get(kind, place, priority);
    } catch (error) {
      if (await isProvenAbsent(error, this.client, kind, this.signal)) return null;
      throw error;
    }
  }

  /**
   * Reads a claim. Resolves to `missing` if the API server says that the claim of this name does not exist, and to
   * `null` if it is unknown whether the claim exists, because this program may not read it, or the answer does not name
   * the claim.
   */
  async readClaim(
    place: ResourcePlace & { readonly name: string },
    priority: Priority = 'disrupt',
  ): Promise<Json | 'missing' | null> {
    const { plural: kind } = persistentVolumeClaims;
    try {
      return await this.#get(persistentVolumeClaims, place, priority);
    } catch (error) {
      if (isNotFoundByName(error, { kind, name: place.name })) return 'missing';
      if (isNotFound(error) || isForbidden(error)) return null;
      throw error;
    }
  }

  #get(kind: ResourceKind, place: ResourcePlace, priority: Priority): Promise<Json> {
    return this.call<Json>({ method: 'GET', path: path(kind, place), priority });
  }

  /**
   * Asks the API server in a dry run whether it would admit a pod. Nothing is stored. Always rejects with the API
   * server's answer, because a pod with this name already exists.
   */
  async tryToCreatePod(body: Json, namespace: string): Promise<void> {
    await this.ask({ method: 'POST', path: path(pods, { namespace }), query: { dryRun: 'All' }, body });
  }

  async listNodes(): Promise<readonly Json[]> {
    const options = { priority: 'read', signal: this.signal, reservation: this.reservation } as const;
    const found: unknown[] = [];
    for await (const page of pagesOf(this.client, { kind: nodes }, pageSize, options)) found.push(...page.items);
    return items(found);
  }

  /**
   * Reads the StatefulSet controller's newest message about a pod that it could not create; `null` if there is none.
   */
  async readCreateFailure({ namespace, name, uid }: StatefulSetRecord): Promise<string | null> {
    const fieldSelector = `regarding.kind=StatefulSet,regarding.name=${name},regarding.uid=${uid},reason=FailedCreate`;
    const list = await this.call<Json>({
      method: 'GET',
      path: path(events, { namespace }),
      query: { fieldSelector, limit: mostEvents },
      priority: 'read',
      ...mostListed,
    });
    const [newest] = items(list['items']).toSorted((a, b) => (happenedAt(a) < happenedAt(b) ? 1 : -1));
    return text(newest?.['note']);
  }

  /**
   * Reads the pod template of a revision of the StatefulSet. Resolves to `null` if the revision is no longer kept. A
   * ControllerRevision has the name of the revision, which is also the value of the pods' label.
   */
  async readTemplate(namespace: string, revision: string): Promise<Json | null> {
    const found = await this.read(controllerRevisions, { namespace, name: revision }, 'read');
    return found && templateOf(found);
  }

  /** What a node reports about an image. Resolves to `null` if nodes may not be read. */
  async readImage(node: string, image: string): Promise<ImageReport | null> {
    try {
      return imageReport(await this.read(nodes, { name: node }, 'read'), image);
    } catch (error) {
      if (isForbidden(error)) return null;
      throw error;
    }
  }

  /** Sends the request once, with a lower priority than the requests of steps, because the caller asks again later. */
  protected ask<T>(call: OnceCall): Promise<T> {
    return this.call<T>({ ...call, priority: 'read', retries: 0 });
  }

  protected call<T>(call: Omit<Call, 'signal' | 'reservation'>): Promise<T> {
    return this.client.call<T>({ ...call, signal: this.signal, reservation: this.reservation });
  }

  /** Runs several reads. If one of them fails, the others are aborted. */
  #allOrNone<Found>(begin: (reader: ClusterReader) => Promise<Found>): Promise<Found> {
    return allOrAbort(this.signal, (signal) => begin(new ClusterReader(this.client, signal, this.reservation)));
  }
}

/**
 * Whether Jobs have to be listed. If there is a backup policy, MOCO maintains a CronJob, and people can create Jobs
 * from it.
 */
const mayHaveJobs = ({ cluster, jobs: known }: ClusterObjects): boolean => cluster.hasBackupPolicy || known.length > 0;

/** The objects that are always read: the StatefulSet, the MySQLRollout, the Jobs and the MySQLCluster. */
const readsOfOne = 4;
/** Everything is read once in parallel, and once more in order if something has changed. */
const mostTimesRead = 2;

/**
 * The largest number of reads in one confirmation, apart from policies. It depends only on how many members and budgets
 * the cluster itself has.
 */
export function mostReads(known: ClusterObjects): number {
  const replicas = Math.max(known.cluster.replicas, known.statefulSet?.replicas ?? 0);
  return mostTimesRead * (readsOfOne + budgetNames(known).length + podNames(known, replicas).length);
}

type ListedJobs = Pick<ClusterObjects, 'jobs' | 'jobsUnreadable'>;
type ReadFirst = Pick<ClusterObjects, 'statefulSet' | 'budgets'> & Pick<LiveObjects, 'rollout'>;
/** `listed` is `null` if the Jobs were not listed. */
type ReadNext = Pick<ClusterObjects, 'pods'> & { readonly listed: ListedJobs | null };

const noJobs: ListedJobs = { jobs: [], jobsUnreadable: null };

const liveObjectsOf = (
  cluster: ClusterRecord | null,
  { rollout, ...first }: ReadFirst,
  { listed, ...next }: ReadNext,
): LiveObjects | null => cluster && { objects: { cluster, ...first, ...next, ...(listed ?? noJobs) }, rollout };

/**
 * Whether two observations of a cluster contain the same objects in the same versions. `read` contains only budgets
 * that were known before.
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

/** The time of an Event, as an RFC 3339 timestamp. Kubernetes' own controllers still write the deprecated fields. */
function happenedAt(event: Json): string {
  return (
    text(object(event['series'])['lastObservedTime']) ??
    text(event['deprecatedLastTimestamp']) ??
    text(event['eventTime']) ??
    ''
  );
}

/**
 * How many budgets are read in addition to MOCO's own. Two are enough, because a second budget already blocks the
 * rollout: Kubernetes does not evict a pod that several budgets select.
 */
const mostForeignBudgets = 2;

/**
 * The names of MOCO's own budget and of other budgets that select a member. Their number is limited, because a tenant
 * may create any number of budgets.
 */
function budgetNames({ cluster, pods: members, budgets }: ClusterObjects): readonly string[] {
  const own = statefulSetName(cluster.name);
  const foreign: string[] = [];
  for (const { name, selector } of budgets) {
    if (foreign.length === mostForeignBudgets) break;
    if (name !== own && members.some(({ labels }) => selects(selector, labels))) foreign.push(name);
  }
  return [own, ...foreign];
}

/**
 * The names that the StatefulSet gives its members, and the names of other known pods. If the StatefulSet's size is
 * invalid, only the known pods count.
 */
function podNames({ cluster, pods: members }: ClusterObjects, replicas: number): readonly string[] {
  const given = Array.from(
    { length: isPossibleSize(replicas) ? replicas : 0 },
    (_, ordinal) => `${statefulSetName(cluster.name)}-${ordinal}`,
  );
  return [...new Set([...given, ...members.map(({ name }) => name)])];
}

const projected = <R>(raw: readonly Json[], project: (object: Json) => R | null): readonly R[] =>
  raw.map(project).filter((one) => one !== null);
