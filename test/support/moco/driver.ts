import PQueue from 'p-queue';
import type { World } from '../../../src/base/world.ts';
import { carryOut, type Look } from '../carry-out.ts';
import type { ObjectClient } from '../object-client.ts';
import type { Faults } from './faults.ts';
import { Looks, type LoopName, wokenBy } from './looks.ts';
import { Loop, type LoopOptions } from './loop.ts';
import type { Pod } from './objects.ts';
import { ObjectsOfClusters } from './objects-of-clusters.ts';
import { perform } from './perform.ts';
import { Renewals } from './renewals.ts';
import { type ClusteringDurations, defaultSettings, type PartitionIntervals, type Settings } from './settings.ts';
import type { Write, WrittenKind } from './write.ts';

export interface MocoOptions {
  readonly client: ObjectClient;
  readonly world: World;
  /** Over those of `defaultSettings`. */
  readonly clustering?: Partial<ClusteringDurations>;
  readonly partition?: Partial<PartitionIntervals>;
  /** MOCO's own partition controller; without it nothing lowers a partition. */
  readonly partitionController?: boolean;
  /**
   * How long a change of an object waits for others before the cluster is reconciled, in milliseconds. The real one
   * doesn't wait, and applies the StatefulSet with every change of its status: what that costs an API server, in
   * webhooks and field managers, would be most of what a fleet costs.
   */
  readonly reconcileDelayMilliseconds?: number;
}

/** A running stand-in for moco-controller, its webhook aside. */
export interface MocoStandIn {
  /** What the readiness probe of container mysqld finds in this pod, given that agent and kubelet do their part. */
  mysqldReady(pod: Pod): boolean;
  /** Whether a commit to the cluster would be answered at the moment. */
  acceptsCommits(namespace: string, clusterName: string): boolean;
  /** Calls back whenever these answers may have changed. Returns a function that ends it. */
  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void;
  /** Sets the faults of one cluster from now on; omitted ones stay. */
  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void;
  /**
   * Stops moco-controller: nothing is read or written, and the state of its process is lost. MySQL keeps running.
   * Resolves when no run is in progress any more.
   */
  pause(): Promise<void>;
  /** A new process starts over: it manages a cluster once it has reconciled it. Resolves once it runs. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

type ClusterLoops = Readonly<Record<LoopName, Loop | null>>;

/** Starts it and resolves once it has seen everything there is. */
export async function startMoco(options: MocoOptions): Promise<MocoStandIn> {
  const moco = new Moco(options);
  await moco.start();
  return moco;
}

/** `--max-concurrent-reconciles` of moco-controller, its default. Clustering has a goroutine for each cluster. */
const concurrentReconciles = 8;

class Moco implements MocoStandIn {
  readonly #client: ObjectClient;
  readonly #world: World;
  readonly #withPartitionController: boolean;
  readonly #reconcileDelayMilliseconds: number;
  readonly #objects: ObjectsOfClusters;
  readonly #looks: Looks;
  readonly #loops = new Map<string, ClusterLoops>();
  readonly #reconcilers = new PQueue({ concurrency: concurrentReconciles });
  readonly #renewals: Renewals;
  readonly #listeners = new Set<(namespace: string, clusterName: string) => void>();
  #paused = true;

  constructor(options: MocoOptions) {
    const { client, world, clustering, partition, partitionController = true } = options;
    this.#world = world;
    this.#withPartitionController = partitionController;
    this.#reconcileDelayMilliseconds = options.reconcileDelayMilliseconds ?? 0;
    this.#objects = new ObjectsOfClusters({ client, world, onChange: (...change) => this.#changed(...change) });
    const settings: Settings = {
      ...defaultSettings,
      clustering: { ...defaultSettings.clustering, ...clustering },
      partition: { ...defaultSettings.partition, ...partition },
    };
    this.#client = client;
    this.#renewals = new Renewals(client, world);
    this.#looks = new Looks({
      view: (...cluster) => this.#objects.view(...cluster),
      now: () => ({ monotonicMilliseconds: world.monotonic(), wallMilliseconds: world.wall() }),
      settings: () => settings,
      onDatabasesChange: (namespace, clusterName) => this.#tell(namespace, clusterName),
      onClusteringUpdate: (namespace, clusterName) => this.#loops.get(key(namespace, clusterName))?.cluster?.trigger(),
    });
  }

  async start(): Promise<void> {
    await this.#objects.start();
    await this.resume();
  }

  mysqldReady(pod: Pod): boolean {
    return this.#looks.mysqldReady(pod);
  }

  acceptsCommits(namespace: string, clusterName: string): boolean {
    return this.#looks.acceptsCommits(namespace, clusterName);
  }

  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void {
    this.#listeners.add(callback);
    return () => {
      this.#listeners.delete(callback);
    };
  }

  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    this.#looks.changeFaults(namespace, clusterName, faults);
    this.#tell(namespace, clusterName);
    this.#loops.get(key(namespace, clusterName))?.cluster?.trigger();
  }

  async pause(): Promise<void> {
    this.#paused = true;
    await this.#renewals.stop();
    const loops = [...this.#loops.values()];
    this.#loops.clear();
    await Promise.all(loops.flatMap((one) => Object.values(one)).map(async (loop) => loop?.stop()));
    this.#looks.forget();
  }

  async resume(): Promise<void> {
    this.#paused = false;
    this.#renewals.start();
    for (const { namespace, name } of this.#objects.clusters()) {
      this.#changed('MySQLCluster', namespace, name);
      this.#loops.get(key(namespace, name))?.lowerPartition?.trigger();
    }
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.#objects.stop();
  }

  #changed(kind: WrittenKind, namespace: string, clusterName: string): void {
    this.#tell(namespace, clusterName);
    if (this.#paused || this.#objects.view(namespace, clusterName) === null) {
      return;
    }
    const loops = this.#loopsOf(namespace, clusterName);
    for (const name of wokenBy(kind)) loops[name]?.trigger();
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
    const looks = this.#looks;
    const loop = (look: () => Look<Write>, options?: LoopOptions): Loop =>
      new Loop(this.#world, () => carryOut(look(), (write) => this.#perform(write)), options);
    const loops: ClusterLoops = {
      reconcile: loop(() => looks.reconcile(namespace, clusterName), {
        delayMilliseconds: this.#reconcileDelayMilliseconds,
        workers: this.#reconcilers,
      }),
      cluster: loop(() => looks.cluster(namespace, clusterName)),
      lowerPartition: this.#withPartitionController ? loop(() => looks.lowerPartition(namespace, clusterName)) : null,
    };
    this.#loops.set(cluster, loops);
    return loops;
  }

  async #perform(write: Write): Promise<void> {
    const left = await perform(this.#client, write);
    if (left !== null) this.#objects.wrote(left);
  }
}

function key(namespace: string, clusterName: string): string {
  return `${namespace}/${clusterName}`;
}
