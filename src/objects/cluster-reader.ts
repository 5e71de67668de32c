import { type MySQLRollout, rolloutKind, usedOf } from '../api/rollout.ts';
import { allOrAbort } from '../base/delay.ts';
import { objects as items, type Json, object, text } from '../base/json.ts';
import { isPossibleSize } from '../core/situation.ts';
import type { ApiClient, Call } from '../kube/api-client.ts';
import { isForbidden, withoutRequest } from '../kube/api-error.ts';
import { isProvenAbsent } from '../kube/discovery.ts';
import { mostBytesOfObject, mostValuesOfObject, pagesOf } from '../kube/list-watch.ts';
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

// Every read that a pass may send about one cluster. A confirmation reads here, past the cache.

export interface LiveObjects {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
}

/** A request with the usual options. */
export type OnceCall = Pick<Call, 'method' | 'path' | 'query' | 'body' | 'contentType'>;

const pageSize = 500;
/** One reason and one StatefulSet have only a few; a tenant may write any number. */
const mostEvents = 100;
/**
 * The limit for a list that is read as a whole, in a namespace whose tenant may create any number of objects. The Job
 * of a backup has about 10 KB and some hundred values, an Event 1 KB.
 */
const mostListed = { mostBytes: 16 * 1024 * 1024, mostValues: 500_000 } as const;

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
   * resourceVersion in `known`, then all of them had it at the moment of this call. Otherwise everything is read again
   * in order.
   */
  async readNewest(known: LiveObjects): Promise<LiveObjects | null> {
    const unordered = await this.#readUnordered(known.objects);
    return unordered && isSameVersion(known, unordered) ? unordered : this.readAll(known.objects);
  }

  /**
   * Reads everything without a cache (no resourceVersion: quorum reads). The MySQLCluster is read last, since a
   * failover shows there first. Resolves to `null` if it is gone. Objects are read by name: members have the ordinals
   * of the StatefulSet, and `known` has the other objects of the cache. The API server answers a list of a kind without
   * recent writes only once its own cache has caught up with all other kinds, which it checks every 100 ms
   * (ConsistentListFromCache, Kubernetes 1.31 and later). So Jobs, which may have any name, are listed only if there
   * may be one. The eviction itself enforces a budget that the cache does not know yet.
   */
  async readAll(known: ClusterObjects): Promise<LiveObjects | null> {
    const first = await this.#allOrNone((reader) => reader.#readFirst(known));
    const next = await this.#allOrNone((reader) => reader.#readNext(known, first.statefulSet?.replicas ?? 0));
    const cluster = await this.#readCluster(known);
    // The cache did not know of its backup policy.
    const isMissed = next.listed === null && cluster?.hasBackupPolicy === true;
    return liveObjectsOf(cluster, first, isMissed ? { ...next, listed: await this.#listJobs(cluster) } : next);
  }

  async #readUnordered(known: ClusterObjects): Promise<LiveObjects | null> {
    const [cluster, first, next] = await this.#allOrNone((reader) =>
      Promise.all([
        reader.#readCluster(known),
        reader.#readFirst(known),
        reader.#readNext(known, known.statefulSet?.replicas ?? 0),
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

  async #readNext(known: ClusterObjects, replicas: number): Promise<ReadNext> {
    const { cluster } = known;
    const [listed, members] = await Promise.all([
      mayHaveJobs(known) ? this.#listJobs(cluster) : null,
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

  /** Reads an object with all its fields. Resolves to `null` if it is gone, or if the server has no such kind. */
  async read(kind: ResourceKind, place: ResourcePlace, priority: Priority = 'disrupt'): Promise<Json | null> {
    try {
      return await this.call<Json>({
        method: 'GET',
        path: path(kind, place),
        priority,
        mostValues: mostValuesOfObject,
        mostBytes: mostBytesOfObject,
      });
    } catch (error) {
      if (await isProvenAbsent(error, this.client, kind, this.signal)) return null;
      throw error;
    }
  }

  /**
   * Asks the API server to admit a pod, as a dry run: nothing is stored. Rejects with its answer, since it never admits
   * a pod whose name exists.
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

  /** Reads the StatefulSet controller's newest message about a pod that it could not create, or `null`. */
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
   * Reads the pod template of a revision of the StatefulSet. Resolves to `null` if it is no longer kept. A
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

  /** Sent once, with a lower priority than the requests of steps: the caller will ask again. */
  protected ask<T>(call: OnceCall): Promise<T> {
    return this.call<T>({ ...call, priority: 'read', retries: 0 });
  }

  protected call<T>(call: Omit<Call, 'signal' | 'reservation'>): Promise<T> {
    return this.client.call<T>({ ...call, signal: this.signal, reservation: this.reservation });
  }

  /** If one of these reads fails, the others are aborted. */
  #allOrNone<Found>(begin: (reader: ClusterReader) => Promise<Found>): Promise<Found> {
    return allOrAbort(this.signal, (signal) => begin(new ClusterReader(this.client, signal, this.reservation)));
  }
}

/**
 * Whether a list of Jobs is worth its time: people can create Jobs from the CronJob that MOCO keeps for a backup
 * policy.
 */
const mayHaveJobs = ({ cluster, jobs: known }: ClusterObjects): boolean => cluster.hasBackupPolicy || known.length > 0;

/** The StatefulSet, the MySQLRollout, the Jobs and the MySQLCluster. */
const readsOfOne = 4;
/** First in parallel, and again in order if something has changed. */
const mostTimesRead = 2;

/**
 * The largest number of reads of one confirmation, apart from policies. It grows only with the cluster's own members
 * and budgets.
 */
export function mostReads(known: ClusterObjects): number {
  const replicas = Math.max(known.cluster.replicas, known.statefulSet?.replicas ?? 0);
  return mostTimesRead * (readsOfOne + budgetNames(known).length + podNames(known, replicas).length);
}

type ListedJobs = Pick<ClusterObjects, 'jobs' | 'jobsUnreadable'>;
type ReadFirst = Pick<ClusterObjects, 'statefulSet' | 'budgets'> & Pick<LiveObjects, 'rollout'>;
/** `listed` is `null` if there can be no Job. */
type ReadNext = Pick<ClusterObjects, 'pods'> & { readonly listed: ListedJobs | null };

const noJobs: ListedJobs = { jobs: [], jobsUnreadable: null };

const liveObjectsOf = (
  cluster: ClusterRecord | null,
  { rollout, ...first }: ReadFirst,
  { listed, ...next }: ReadNext,
): LiveObjects | null => cluster && { objects: { cluster, ...first, ...next, ...(listed ?? noJobs) }, rollout };

/**
 * Whether two views of a cluster have the same objects, each in the same version. `read` has only the budgets that were
 * known.
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

/**
 * In addition to MOCO's own. A second budget already blocks the rollout: Kubernetes evicts no pod that several budgets
 * select.
 */
const mostForeignBudgets = 2;

/** MOCO's own budget, and others that are known to select a member. A tenant may create any number of them. */
function budgetNames({ cluster, pods: members, budgets }: ClusterObjects): readonly string[] {
  const own = statefulSetName(cluster.name);
  const foreign: string[] = [];
  for (const { name, selector } of budgets) {
    if (foreign.length === mostForeignBudgets) break;
    if (name !== own && members.some(({ labels }) => selects(selector, labels))) foreign.push(name);
  }
  return [own, ...foreign];
}

/** The names that the StatefulSet gives its members, unless its size is invalid, and the names of other known pods. */
function podNames({ cluster, pods: members }: ClusterObjects, replicas: number): readonly string[] {
  const given = Array.from(
    { length: isPossibleSize(replicas) ? replicas : 0 },
    (_, ordinal) => `${statefulSetName(cluster.name)}-${ordinal}`,
  );
  return [...new Set([...given, ...members.map(({ name }) => name)])];
}

const projected = <R>(raw: readonly Json[], project: (object: Json) => R | null): readonly R[] =>
  raw.map(project).filter((one) => one !== null);
