import type { ApiClient } from '../../src/kube/api-client.ts';
import { isConflict, isNotFound } from '../../src/kube/api-error.ts';
import type { Log } from '../../src/kube/log.ts';
import type { World } from '../../src/kube/world.ts';
import { clusterNameLabel } from '../../src/moco/names.ts';
import { reconciledStatus } from './cluster-status.ts';
import type { Moment } from './cluster-view.ts';
import { type ClusteringMind, clusteringStep, freshMind } from './clustering.ts';
import { type Faults, noFaults } from './faults.ts';
import { Loop } from './loop.ts';
import type { MySQLCluster, Pod } from './objects.ts';
import { ObjectsOfClusters } from './objects-of-clusters.ts';
import { lowerPartition } from './partition.ts';
import { perform } from './perform.ts';
import { mysqldReady } from './readiness.ts';
import { reconcile } from './reconcile.ts';
import { type ClusteringDurations, defaultSettings, type PartitionIntervals, type Settings } from './settings.ts';
import type { Write, WrittenKind } from './write.ts';

export interface MocoOptions {
  readonly client: ApiClient;
  readonly world: World;
  readonly log?: Log;
  /** Over those of `defaultSettings`. */
  readonly clustering?: Partial<ClusteringDurations>;
  readonly partition?: Partial<PartitionIntervals>;
  /** MOCO's own partition controller; without it nothing lowers a partition. */
  readonly partitionController?: boolean;
}

/** A running stand-in for moco-controller, its webhook aside. */
export interface MocoStandIn {
  /** What the readiness probe of container mysqld finds in this pod, given that agent and kubelet do their part. */
  mysqldReady(pod: Pod): boolean;
  /** Calls back whenever the answers of `mysqldReady` may have changed. Returns a function that ends it. */
  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void;
  /** What goes wrong for one cluster from now on; what is not named stays as it is. */
  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void;
  /** MOCO is down: nothing is looked at or written. MySQL goes on. Resolves when nothing is under way any more. */
  pause(): Promise<void>;
  /** MOCO is back and looks at everything anew. */
  resume(): void;
  stop(): Promise<void>;
}

interface ClusterLoops {
  readonly reconcile: Loop;
  readonly clustering: Loop;
  readonly partition: Loop | null;
}

/** Starts it and resolves once it has seen everything there is. */
export async function startMoco(options: MocoOptions): Promise<MocoStandIn> {
  const moco = new Moco(options);
  await moco.start();
  return moco;
}

const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

class Moco implements MocoStandIn {
  readonly #client: ApiClient;
  readonly #world: World;
  readonly #log: Log;
  readonly #settings: Settings;
  readonly #withPartitionController: boolean;
  readonly #objects: ObjectsOfClusters;
  readonly #loops = new Map<string, ClusterLoops>();
  /** By the uid of the MySQLCluster, since a new one of the same name has new databases. */
  readonly #minds = new Map<string, ClusteringMind>();
  readonly #faults = new Map<string, Faults>();
  readonly #listeners = new Set<(namespace: string, clusterName: string) => void>();
  readonly #stopping = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #paused = true;

  constructor(options: MocoOptions) {
    const { client, world, log = silent, clustering, partition, partitionController = true } = options;
    this.#client = client;
    this.#world = world;
    this.#log = log;
    this.#withPartitionController = partitionController;
    this.#settings = {
      ...defaultSettings,
      clustering: { ...defaultSettings.clustering, ...clustering },
      partition: { ...defaultSettings.partition, ...partition },
    };
    this.#objects = new ObjectsOfClusters({ client, world, log, onChange: (...change) => this.#changed(...change) });
  }

  async start(): Promise<void> {
    this.#watching = this.#objects.run(this.#stopping.signal);
    await this.#objects.synced();
    this.resume();
  }

  mysqldReady(pod: Pod): boolean {
    const { namespace, labels } = pod.metadata;
    const view = this.#objects.view(namespace, labels?.[clusterNameLabel] ?? '');
    return view !== null && mysqldReady(view, this.#mind(view.cluster), this.#faultsOf(view.cluster), pod);
  }

  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void {
    this.#listeners.add(callback);
    return () => {
      this.#listeners.delete(callback);
    };
  }

  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    const cluster = key(namespace, clusterName);
    this.#faults.set(cluster, { ...(this.#faults.get(cluster) ?? noFaults), ...faults });
    this.#tell(namespace, clusterName);
    this.#loops.get(cluster)?.clustering.trigger();
  }

  async pause(): Promise<void> {
    this.#paused = true;
    const loops = [...this.#loops.values()];
    this.#loops.clear();
    await Promise.all(
      loops.map(async ({ reconcile: first, clustering, partition }) => {
        await Promise.all([first.stop(), clustering.stop(), partition?.stop()]);
      }),
    );
  }

  resume(): void {
    this.#paused = false;
    for (const { namespace, name } of this.#objects.clusters()) {
      this.#changed('MySQLCluster', namespace, name);
      this.#loops.get(key(namespace, name))?.partition?.trigger();
    }
  }

  async stop(): Promise<void> {
    await this.pause();
    this.#stopping.abort();
    await this.#watching;
  }

  #changed(kind: WrittenKind, namespace: string, clusterName: string): void {
    this.#tell(namespace, clusterName);
    if (this.#paused || this.#objects.view(namespace, clusterName) === null) {
      return;
    }
    const loops = this.#loopsOf(namespace, clusterName);
    if (kind === 'StatefulSet' || kind === 'Pod') {
      loops.partition?.trigger();
    }
    if (kind !== 'Pod') {
      loops.reconcile.trigger();
    }
    loops.clustering.trigger();
  }

  #tell(namespace: string, clusterName: string): void {
    for (const listener of this.#listeners) {
      listener(namespace, clusterName);
    }
  }

  #loopsOf(namespace: string, clusterName: string): ClusterLoops {
    const cluster = key(namespace, clusterName);
    const existing = this.#loops.get(cluster);
    if (existing !== undefined) {
      return existing;
    }
    const loop = (part: string, run: () => Promise<number | null>): Loop =>
      new Loop(this.#world, run, (error) => this.#failed(part, cluster, error));
    const loops: ClusterLoops = {
      reconcile: loop('reconcile', () => this.#reconcile(namespace, clusterName)),
      clustering: loop('clustering', () => this.#cluster(namespace, clusterName)),
      partition: this.#withPartitionController
        ? loop('partition', () => this.#lowerPartition(namespace, clusterName))
        : null,
    };
    this.#loops.set(cluster, loops);
    return loops;
  }

  async #reconcile(namespace: string, clusterName: string): Promise<null> {
    const view = this.#objects.view(namespace, clusterName);
    if (view === null) {
      return null;
    }
    const { writes, endsWithStatus } = reconcile(view, this.#settings, this.#world.wall());
    const failure = await this.#performAll(writes).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (endsWithStatus) {
      // The StatefulSet as it was before: the real one reads a cache that doesn't show its own writes yet.
      const latest = this.#objects.view(namespace, clusterName)?.cluster ?? view.cluster;
      // Of the generation that was reconciled: where it has changed meanwhile, the old object's version is refused.
      const cluster = latest.metadata.generation === view.cluster.metadata.generation ? latest : view.cluster;
      const status = reconciledStatus({ ...view, cluster }, failure === null, this.#world.wall());
      await this.#performAll(status === null ? [] : [status]);
    }
    if (failure !== null) {
      throw failure.error;
    }
    return null;
  }

  async #cluster(namespace: string, clusterName: string): Promise<number | null> {
    const view = this.#objects.view(namespace, clusterName);
    if (view === null) {
      return null;
    }
    const { clustering } = this.#settings;
    const before = this.#mind(view.cluster);
    const step = clusteringStep(view, before, this.#now(), clustering, this.#faultsOf(view.cluster));
    await this.#performAll(step.writes);
    this.#minds.set(view.cluster.metadata.uid, step.mind);
    if (step.mind.databases !== before.databases) {
      this.#tell(namespace, clusterName);
    }
    return step.lookAgainAfterMilliseconds;
  }

  async #lowerPartition(namespace: string, clusterName: string): Promise<number | null> {
    const view = this.#objects.view(namespace, clusterName);
    if (view === null) {
      return null;
    }
    const look = lowerPartition(view, this.#settings.partition, this.#world.wall());
    await this.#performAll(look.write === null ? [] : [look.write]);
    return look.lookAgainAfterMilliseconds;
  }

  async #performAll(writes: readonly Write[]): Promise<void> {
    for (const write of writes) {
      const left = await perform(this.#client, write);
      if (left !== null) {
        this.#objects.wrote(left);
      }
    }
  }

  #failed(part: string, cluster: string, error: unknown): void {
    if (!isConflict(error) && !isNotFound(error)) {
      this.#log.warn({ cluster, part, error: String(error) }, 'MOCO stand-in: a write was refused');
    }
  }

  #now(): Moment {
    return { monotonicMilliseconds: this.#world.monotonic(), wallMilliseconds: this.#world.wall() };
  }

  #mind(cluster: MySQLCluster): ClusteringMind {
    return this.#minds.get(cluster.metadata.uid) ?? freshMind;
  }

  #faultsOf(cluster: MySQLCluster): Faults {
    return this.#faults.get(key(cluster.metadata.namespace, cluster.metadata.name)) ?? noFaults;
  }
}

function key(namespace: string, clusterName: string): string {
  return `${namespace}/${clusterName}`;
}
