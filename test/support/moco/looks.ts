import { clusterNameLabel } from '../../../src/moco/names.ts';
import { all, type Look } from '../carry-out.ts';
import { type Moment } from '../moment.ts';
import { reconciledStatus } from './cluster-status.ts';
import type { ClusterView } from './cluster-view.ts';
import { clusteringStep } from './clustering.ts';
import { type ClusteringMind, freshMind } from './clustering-mind.ts';
import { acceptsCommits, mysqldReady, observeDatabases } from './databases.ts';
import { type Faults, noFaults } from './faults.ts';
import type { MySQLCluster, Pod } from './objects.ts';
import { lowerPartition } from './partition.ts';
import { reconcile } from './reconcile.ts';
import { same } from './same.ts';
import type { Settings } from './settings.ts';
import type { Write, WrittenKind } from './write.ts';

/** MOCO's loops for a cluster. */
export type LoopName = 'reconcile' | 'cluster' | 'lowerPartition';

/** Those that a change of an object of the cluster wakes. */
export function wokenBy(kind: WrittenKind): readonly LoopName[] {
  if (kind === 'Pod') return ['lowerPartition', 'cluster'];
  return kind === 'StatefulSet' ? ['lowerPartition', 'reconcile', 'cluster'] : ['reconcile', 'cluster'];
}

interface LooksOptions {
  readonly view: (namespace: string, clusterName: string) => ClusterView | null;
  readonly now: () => Moment;
  readonly settings: () => Settings;
  /** Told when the databases of a cluster are no longer what they were. */
  readonly onDatabasesChange: (namespace: string, clusterName: string) => void;
  /** Called after a successful reconciliation: the clustering of the cluster runs and has to check. */
  readonly onClusteringUpdate: (namespace: string, clusterName: string) => void;
}

/**
 * MOCO itself, whoever plays it: one run of each of its loops for one cluster, and what its process and MySQL remember
 * in between.
 */
export class Looks {
  readonly #options: LooksOptions;
  /** By the uid of the MySQLCluster, since a new one of the same name has new databases. */
  readonly #minds = new Map<string, ClusteringMind>();
  readonly #faults = new Map<string, Faults>();
  /**
   * The clusters whose clustering loop the process runs, by uid (`clustering/manager.go` of MOCO 0.36). A new process
   * runs none: `Update`, at the end of a successful reconciliation, starts a cluster's loop; `UpdateNoStart`, which
   * `controllers/pod_watcher.go` calls for a deleted or demoted pod, does not. So after a restart of moco-controller a
   * cluster whose reconciliation fails has neither failover nor switchover.
   */
  readonly #clustered = new Set<string>();

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  changeFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    this.#faults.set(key(namespace, clusterName), { ...this.faultsOf(namespace, clusterName), ...faults });
  }

  faultsOf(namespace: string, clusterName: string): Faults {
    return this.#faults.get(key(namespace, clusterName)) ?? noFaults;
  }

  /** What MySQL and the clustering of a cluster have come to; nothing yet of one that is not there. */
  mindOf(namespace: string, clusterName: string): ClusteringMind {
    const view = this.#options.view(namespace, clusterName);
    return view === null ? freshMind : this.#mind(view.cluster);
  }

  /**
   * Ends the process: the next one knows neither the managed clusters nor the progress of their clustering. MySQL keeps
   * running.
   */
  forget(): void {
    this.#clustered.clear();
    for (const [uid, mind] of this.#minds) this.#minds.set(uid, { ...mind, activity: freshMind.activity });
  }

  mysqldReady(pod: Pod): boolean {
    const { namespace, labels } = pod.metadata;
    const view = this.#options.view(namespace, labels?.[clusterNameLabel] ?? '');
    return view !== null && mysqldReady(view, this.#mind(view.cluster).databases, this.#faultsOf(view.cluster), pod);
  }

  /** Whether a commit would be answered at the moment. */
  acceptsCommits(namespace: string, clusterName: string): boolean {
    const view = this.#options.view(namespace, clusterName);
    if (view === null) {
      return false;
    }
    const { replicas } = view.cluster.spec;
    const faults = this.#faultsOf(view.cluster);
    const databases = observeDatabases(this.#mind(view.cluster).databases, view.pods, replicas, faults);
    return acceptsCommits(databases, faults);
  }

  *reconcile(namespace: string, clusterName: string): Look<Write> {
    const { view: viewOf, settings, now, onClusteringUpdate } = this.#options;
    const view = viewOf(namespace, clusterName);
    if (view === null) return null;
    const { writes, endsWithStatus, clustering } = reconcile(view, settings(), now().wallMilliseconds);
    const isDone = yield* all(writes);
    const { uid } = view.cluster.metadata;
    if (isDone && clustering === 'stop') this.#clustered.delete(uid);
    if (isDone && clustering === 'update') {
      this.#clustered.add(uid);
      onClusteringUpdate(namespace, clusterName);
    }
    if (endsWithStatus) {
      // The StatefulSet as it was before: the real one reads a cache that doesn't show its own writes yet.
      const latest = viewOf(namespace, clusterName)?.cluster ?? view.cluster;
      // Of the reconciled generation: if the object has changed meanwhile, the write conflicts.
      const cluster = latest.metadata.generation === view.cluster.metadata.generation ? latest : view.cluster;
      const status = reconciledStatus({ ...view, cluster }, isDone, now().wallMilliseconds);
      if (status !== null && !(yield status)) return 'failed';
    }
    return isDone ? null : 'failed';
  }

  *cluster(namespace: string, clusterName: string): Look<Write> {
    const { view: viewOf, settings, now, onDatabasesChange } = this.#options;
    const view = viewOf(namespace, clusterName);
    if (view === null || !this.#clustered.has(view.cluster.metadata.uid)) return null;
    const before = this.#mind(view.cluster);
    const step = clusteringStep(view, before, now(), settings().clustering, this.#faultsOf(view.cluster));
    if (!(yield* all(step.writes))) return 'failed';
    this.#minds.set(view.cluster.metadata.uid, step.mind);
    if (!same(step.mind.databases, before.databases)) onDatabasesChange(namespace, clusterName);
    return step.requeueAfterMilliseconds;
  }

  *lowerPartition(namespace: string, clusterName: string): Look<Write> {
    const { view: viewOf, settings, now } = this.#options;
    const view = viewOf(namespace, clusterName);
    if (view === null) return null;
    const look = lowerPartition(view, settings().partition, now().wallMilliseconds);
    if (look.write !== null && !(yield look.write)) return 'failed';
    return look.requeueAfterMilliseconds;
  }

  #mind(cluster: MySQLCluster): ClusteringMind {
    return this.#minds.get(cluster.metadata.uid) ?? freshMind;
  }

  #faultsOf({ metadata }: MySQLCluster): Faults {
    return this.faultsOf(metadata.namespace, metadata.name);
  }
}

function key(namespace: string, clusterName: string): string {
  return `${namespace}/${clusterName}`;
}
