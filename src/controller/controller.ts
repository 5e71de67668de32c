import type { ApiClient } from '../kube/api-client.ts';
import { EventRecorder } from '../kube/event-recorder.ts';
import type { Log } from '../kube/log.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import type { World } from '../kube/world.ts';
import type { StatefulSetRecord } from '../moco/records.ts';
import type { CacheMetrics } from '../telemetry/cache-metrics.ts';
import type { RolloutMetrics } from '../telemetry/rollout-metrics.ts';
import type { WorkQueueMetrics } from '../telemetry/work-queue-metrics.ts';
import { Announcer } from './announcer.ts';
import { Cache, keyOf } from './cache.ts';
import { ClusterApi } from './cluster-api.ts';
import { Fleet, type FleetLimits, followRollouts } from './fleet.ts';
import type { StrategySettings } from './mode.ts';
import { Reconciler } from './reconciler.ts';
import { Watches } from './watches.ts';
import type { DefaultWishes } from './wishes.ts';

export interface ControllerOptions {
  readonly client: ApiClient;
  readonly world: World;
  readonly log: Log;
  readonly metrics: {
    readonly rollouts: RolloutMetrics;
    readonly workQueues: WorkQueueMetrics;
    readonly caches: CacheMetrics;
  };
  readonly defaults: DefaultWishes;
  readonly strategies: StrategySettings;
  readonly fleetLimits: FleetLimits;
  /** Empty: all of them. */
  readonly namespaces: readonly string[];
  readonly concurrency: number;
  /** Names this process; another one for each start. */
  readonly holder: string;
  readonly isLeading: () => boolean;
}

const component = 'moco-rollout';
/** For events that wait to be sent when the program ends. */
const eventsGraceMilliseconds = 1000;

/** Watches, queue and reconciler, put together. Watches from the start; reconciles from `work` on. */
export class Controller {
  readonly #watches: Watches;
  readonly #cache = new Cache();
  readonly #queue: WorkQueue;
  readonly #recorder: EventRecorder;
  readonly #options: ControllerOptions;
  #synced = false;

  constructor(options: ControllerOptions) {
    const { client, world, log, metrics, namespaces, concurrency, holder, isLeading } = options;
    const { defaults, strategies } = options;
    this.#options = options;
    this.#watches = new Watches(this.#cache, client, world, log, namespaces, metrics.caches);
    this.#recorder = new EventRecorder({ client, world, component, instance: holder, log });
    const announcer = new Announcer({ recorder: this.#recorder, metrics: metrics.rollouts, log, world });
    const api = new ClusterApi(client);
    const fleet = new Fleet(options.fleetLimits, world, (key) => this.#queue.add(key));
    followRollouts(this.#cache, fleet);
    const reconciler = new Reconciler({
      cache: this.#cache,
      fleet,
      api,
      world,
      log,
      defaults,
      strategies,
      announcer,
      holder,
      isLeading,
    });
    this.#queue = new WorkQueue({
      name: 'clusters',
      world,
      concurrency,
      process: (key, signal) => reconciler.reconcile(key, signal),
      onError: (key, error, retries) => log.warn({ cluster: key, error, retries }, 'a pass failed and is tried again'),
      metrics: metrics.workQueues,
    });
    this.#cache.onChange((key) => this.#queue.add(key));
    this.#cache.statefulSets.subscribe(({ before, after }) => {
      metrics.rollouts.onDeleteStatefulSets.inc(isOnDelete(after) - isOnDelete(before));
    });
  }

  /** Every kind has been listed at least once. */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Resolves once every kind has been listed, or the watches have ended before that. */
  synced(): Promise<void> {
    return this.#watches.synced();
  }

  /** Keeps the cache until aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watches.run(signal), this.#noteSync()]);
  }

  async #noteSync(): Promise<void> {
    await this.#watches.synced();
    if (!this.#watches.hasSynced) return;
    this.#synced = true;
    this.#options.log.info({ clusters: [...this.#cache.clusters.values()].length }, 'the cache is in sync');
  }

  /** Starts to reconcile, every cluster first, once the cache is in sync. */
  async work(): Promise<void> {
    await this.#watches.synced();
    if (!this.#watches.hasSynced) return;
    for (const cluster of this.#cache.clusters.values()) this.#queue.add(keyOf(cluster.namespace, cluster.name));
    this.#queue.start();
  }

  /** Takes no new pass, waits for those under way, then for the events that they have left. */
  async drain(graceMilliseconds: number): Promise<void> {
    await this.#queue.drain(graceMilliseconds);
    await this.#recorder.close(eventsGraceMilliseconds);
  }
}

const isOnDelete = (statefulSet: StatefulSetRecord | null): number => (statefulSet?.strategy === 'OnDelete' ? 1 : 0);
