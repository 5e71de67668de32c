import type { World } from '../../../src/kube/world.ts';
import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';
import { ClusterManager } from './cluster-manager.ts';
import { reconciledStatus } from './cluster-status.ts';
import { clusteringStep } from './clustering.ts';
import { type ClusteringMind, freshMind } from './clustering-mind.ts';
import { acceptsCommits, observeDatabases } from './databases.ts';
import { type Faults, noFaults } from './faults.ts';
import type { MySQLCluster, Pod } from './objects.ts';
import type { ObjectsOfClusters } from './objects-of-clusters.ts';
import { lowerPartition } from './partition.ts';
import { perform } from './perform.ts';
import { mysqldReady } from './readiness.ts';
import { reconcile } from './reconcile.ts';
import { same } from './same.ts';
import type { Settings } from './settings.ts';
import type { Write } from './write.ts';

interface LooksOptions {
  readonly client: ObjectClient;
  readonly world: World;
  readonly objects: ObjectsOfClusters;
  readonly settings: Settings;
  /** Told when the databases of a cluster are no longer what they were. */
  readonly onDatabasesChange: (namespace: string, clusterName: string) => void;
  /** Called after a successful reconciliation: the clustering of the cluster runs and has to check. */
  readonly onClusteringUpdate: (namespace: string, clusterName: string) => void;
}

/**
 * One run of each of MOCO's loops for one cluster: objects from the caches, a pure function over them, its writes
 * performed. Each resolves to the milliseconds after which to run again, or `null`, and rejects if a write fails.
 */
export class Looks {
  readonly #options: LooksOptions;
  /** By the uid of the MySQLCluster, since a new one of the same name has new databases. */
  readonly #minds = new Map<string, ClusteringMind>();
  readonly #faults = new Map<string, Faults>();
  readonly #manager = new ClusterManager();

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  changeFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    const cluster = key(namespace, clusterName);
    this.#faults.set(cluster, { ...(this.#faults.get(cluster) ?? noFaults), ...faults });
  }

  /**
   * Ends the process: the next one knows neither the managed clusters nor the progress of their clustering. MySQL keeps
   * running.
   */
  forget(): void {
    this.#manager.stopAll();
    for (const [uid, mind] of this.#minds) this.#minds.set(uid, { ...mind, activity: freshMind.activity });
  }

  mysqldReady(pod: Pod): boolean {
    const { namespace, labels } = pod.metadata;
    const view = this.#options.objects.view(namespace, labels?.[clusterNameLabel] ?? '');
    return view !== null && mysqldReady(view, this.#mind(view.cluster), this.#faultsOf(view.cluster), pod);
  }

  /** Whether a commit would be answered at the moment. */
  acceptsCommits(namespace: string, clusterName: string): boolean {
    const view = this.#options.objects.view(namespace, clusterName);
    if (view === null) {
      return false;
    }
    const { replicas } = view.cluster.spec;
    const faults = this.#faultsOf(view.cluster);
    const databases = observeDatabases(this.#mind(view.cluster).databases, view.pods, replicas, faults);
    return acceptsCommits(databases, faults);
  }

  async reconcile(namespace: string, clusterName: string): Promise<null> {
    const { objects, settings, world, onClusteringUpdate } = this.#options;
    const view = objects.view(namespace, clusterName);
    if (view === null) {
      return null;
    }
    const { writes, endsWithStatus, clustering } = reconcile(view, settings, world.wall());
    const failure = await this.#performAll(writes).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure === null && this.#manager.change(view.cluster.metadata.uid, clustering)) {
      onClusteringUpdate(namespace, clusterName);
    }
    if (endsWithStatus) {
      // The StatefulSet as it was before: the real one reads a cache that doesn't show its own writes yet.
      const latest = objects.view(namespace, clusterName)?.cluster ?? view.cluster;
      // Of the reconciled generation: if the object has changed meanwhile, the write conflicts.
      const cluster = latest.metadata.generation === view.cluster.metadata.generation ? latest : view.cluster;
      const status = reconciledStatus({ ...view, cluster }, failure === null, world.wall());
      await this.#performAll(status === null ? [] : [status]);
    }
    if (failure !== null) {
      throw failure.error;
    }
    return null;
  }

  async cluster(namespace: string, clusterName: string): Promise<number | null> {
    const { objects, settings, world, onDatabasesChange } = this.#options;
    const view = objects.view(namespace, clusterName);
    if (view === null || !this.#manager.isClustering(view.cluster.metadata.uid)) {
      return null;
    }
    const before = this.#mind(view.cluster);
    const now = { monotonicMilliseconds: world.monotonic(), wallMilliseconds: world.wall() };
    const step = clusteringStep(view, before, now, settings.clustering, this.#faultsOf(view.cluster));
    await this.#performAll(step.writes);
    this.#minds.set(view.cluster.metadata.uid, step.mind);
    if (!same(step.mind.databases, before.databases)) {
      onDatabasesChange(namespace, clusterName);
    }
    return step.requeueAfterMilliseconds;
  }

  async lowerPartition(namespace: string, clusterName: string): Promise<number | null> {
    const { objects, settings, world } = this.#options;
    const view = objects.view(namespace, clusterName);
    if (view === null) {
      return null;
    }
    const look = lowerPartition(view, settings.partition, world.wall());
    await this.#performAll(look.write === null ? [] : [look.write]);
    return look.requeueAfterMilliseconds;
  }

  async #performAll(writes: readonly Write[]): Promise<void> {
    for (const write of writes) {
      const left = await perform(this.#options.client, write);
      if (left !== null) {
        this.#options.objects.wrote(left);
      }
    }
  }

  #mind(cluster: MySQLCluster): ClusteringMind {
    return this.#minds.get(cluster.metadata.uid) ?? freshMind;
  }

  #faultsOf({ metadata }: MySQLCluster): Faults {
    return this.#faults.get(key(metadata.namespace, metadata.name)) ?? noFaults;
  }
}

function key(namespace: string, clusterName: string): string {
  return `${namespace}/${clusterName}`;
}
