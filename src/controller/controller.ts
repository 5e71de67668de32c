import { replacesNobody } from '../core/adoption.ts';
import { Standings } from '../evictions/standings.ts';
import { isNamespaceTerminating } from '../kube/api-error.ts';
import { EventRecorder } from '../kube/event-recorder.ts';
import { nameOf, namespaceOfKey } from '../kube/store.ts';
import { WorkQueue, type WorkQueueOptions } from '../kube/work-queue.ts';
import type { LeasePlace } from '../moco/lease-place.ts';
import type { LeavingSigns } from '../moco/node-maintenance.ts';
import type { StatefulSetRecord } from '../moco/records.ts';
import { Cache } from '../objects/cache.ts';
import { StatusClient } from '../objects/status-client.ts';
import { Watches } from '../objects/watches.ts';
import type { FleetMetrics } from '../telemetry/metrics.ts';
import type { RolloutMetrics } from '../telemetry/rollout-metrics.ts';
import type { CacheMetrics, CheckMetrics, WorkQueueMetrics } from '../telemetry/runtime-metrics.ts';
import { type EvictionContext, EvictionReconciler } from './eviction-reconciler.ts';
import { WatchedNodes } from './facts/known-nodes.ts';
import { followEvictions } from './fleet/evictions.ts';
import { Fleet, type FleetLimits } from './fleet/fleet-limits.ts';
import { followFleet } from './fleet/follow-fleet.ts';
import type { Context } from './pass/pass.ts';
import { PolicyReconciler } from './policy-reconciler.ts';
import { type CheckReader, Checks } from './questions/checks.ts';
import { MocoLeases } from './questions/moco-lease.ts';
import { RecentNodes } from './questions/recent-nodes.ts';
import { Reconciler } from './reconciler.ts';
import { SequenceReconciler } from './sequence-reconciler.ts';

// Connects watches, work queues and reconcilers.

export interface ControllerOptions
  extends Pick<
    Context,
    | 'client'
    | 'world'
    | 'delays'
    | 'members'
    | 'mysql'
    | 'log'
    | 'defaults'
    | 'strategies'
    | 'holder'
    | 'isLeading'
    | 'confirmationTimeoutMilliseconds'
  > {
  readonly readCheck: CheckReader;
  readonly metrics: {
    readonly rollouts: RolloutMetrics;
    readonly workQueues: WorkQueueMetrics;
    readonly caches: CacheMetrics;
    readonly fleet: FleetMetrics;
    readonly checks: CheckMetrics;
  };
  readonly leavingSigns: LeavingSigns;
  readonly fleetLimits: FleetLimits;
  readonly mocoLease: LeasePlace;
  /** Empty for all namespaces. */
  readonly namespaces: readonly string[];
  readonly concurrency: number;
  readonly dryRunPods: boolean;
  /** `undefined` while the feature gate `EvictionRequests` is off. */
  readonly evictions?: Pick<EvictionContext, 'limitMilliseconds'>;
}

const component = 'moco-rollout';
/** The only key in this queue. Policies are compared with one another, so one pass covers all policies. */
const allPolicies = 'all';
const eventsGraceMilliseconds = 1000;

/**
 * Connects the watches, the work queues and the reconcilers. Watches start at once; reconciliation starts with `work`.
 */
export class Controller {
  readonly #watches: Watches;
  readonly #cache = new Cache();
  readonly #queue: WorkQueue;
  readonly #sequenceQueue: WorkQueue;
  readonly #policyQueue: WorkQueue;
  readonly #evictionQueue: WorkQueue;
  readonly #recorder: EventRecorder;
  readonly #options: ControllerOptions;
  #synced = false;

  constructor(options: ControllerOptions) {
    const { client, world, log, metrics, namespaces, concurrency, holder, isLeading, strategies } = options;
    this.#options = options;
    const { inPlaceEnabled: keepsLivePods, nodeMaintenanceEnabled } = strategies;
    const leavingSigns = nodeMaintenanceEnabled ? options.leavingSigns : null;
    const watched = { keepsLivePods, leavingSigns, readsEvictions: options.evictions !== undefined };
    this.#watches = new Watches(this.#cache, client, world, log, namespaces, metrics.caches, watched);
    const nodes = new RecentNodes(world, options.leavingSigns);
    const watchedNodes = leavingSigns && new WatchedNodes(this.#cache, world, leavingSigns);
    metrics.fleet.observeNodes(() => watchedNodes?.leavingNodes ?? []);
    this.#recorder = new EventRecorder({ client, world, component, instance: holder, log });
    const fleet = new Fleet(
      options.fleetLimits,
      world,
      (key) => this.#queue.add(key),
      (name) => this.#sequenceQueue.add(name),
    );
    followFleet(this.#cache, fleet);
    followEvictions(this.#cache, fleet.evictions);
    metrics.fleet.observe(() => (isLeading() ? fleet.numbers : null));
    const standings = new Standings((pod) => {
      for (const eviction of this.#cache.evictions.by('pod', pod)) this.#evictionQueue.add(nameOf(eviction));
    });
    const reconciler = new Reconciler({
      ...options,
      standings,
      cache: this.#cache,
      fleet,
      mayLackNodes: namespaces.length > 0,
      triesPods: options.dryRunPods,
      nodes,
      knownNodes: watchedNodes ?? nodes,
      moco: new MocoLeases(world, options.mocoLease),
      checks: new Checks(options.readCheck, world, metrics.checks, (key) => this.#queue.add(key)),
      recorder: this.#recorder,
      metrics: metrics.rollouts,
    });
    const queue = (
      name: string,
      workers: number,
      work: Pick<WorkQueueOptions, 'process' | 'onError' | 'tenantOf'>,
    ): WorkQueue => new WorkQueue({ name, world, concurrency: workers, metrics: metrics.workQueues, ...work });
    this.#queue = queue('clusters', concurrency, {
      tenantOf: namespaceOfKey,
      process: (key, signal) => reconciler.reconcile(key, signal),
      onError: (key, error, retries) =>
        log[isNamespaceTerminating(error) ? 'debug' : 'warn'](
          { cluster: key, error, retries },
          'Failed to reconcile; retrying',
        ),
    });
    const apiFor = (signal: AbortSignal): StatusClient => new StatusClient(client, signal);
    const sequences = new SequenceReconciler({
      stages: fleet.stages,
      apiFor,
      world,
      isLeading,
      recorder: this.#recorder,
      metrics: metrics.fleet,
    });
    this.#sequenceQueue = queue('sequences', 1, {
      process: (name, signal) => sequences.reconcile(name, signal),
      onError: (sequence, error, retries) =>
        log.warn({ sequence, error, retries }, 'Failed to write the status of a MySQLRolloutSequence; retrying'),
    });
    const policies = new PolicyReconciler({ cache: this.#cache, apiFor, world, isLeading });
    this.#policyQueue = queue('policies', 1, {
      process: (_, signal) => policies.reconcile(signal),
      onError: (_, error, retries) =>
        log.warn({ error, retries }, 'Failed to write the status of a MySQLRolloutPolicy; retrying'),
    });
    const evictions =
      options.evictions &&
      new EvictionReconciler({ ...options, ...options.evictions, cache: this.#cache, standings, world });
    this.#evictionQueue = queue('evictions', 1, {
      tenantOf: namespaceOfKey,
      process: async (key, signal) => evictions?.reconcile(key, signal),
      onError: (eviction, error, retries) =>
        log.warn({ eviction, error, retries }, 'Failed to write the status of an Eviction; retrying'),
    });
    this.#cache.evictions.subscribe(({ before, after }) => {
      const eviction = after ?? before;
      if (eviction !== null) this.#evictionQueue.add(nameOf(eviction));
    });
    this.#cache.onPolicyChange(() => this.#policyQueue.add(allPolicies));
    this.#cache.onChange((key) => this.#queue.add(key));
    this.#cache.statefulSets.subscribe(({ before, after }) => {
      metrics.rollouts.onDeleteStatefulSets.inc(onDeleteCount(after) - onDeleteCount(before));
    });
  }

  /** Whether every kind has been listed at least once. */
  get hasSynced(): boolean {
    return this.#synced;
  }

  /** Resolves once every kind has been listed, or when the watches end before then. */
  synced(): Promise<void> {
    return this.#watches.synced();
  }

  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watches.run(signal), this.#noteSync()]);
  }

  async #noteSync(): Promise<void> {
    await this.#watches.synced();
    if (!this.#watches.hasSynced) return;
    this.#synced = true;
    this.#options.log.info({ clusters: [...this.#cache.clusters.values()].length }, 'Cache is in sync');
  }

  /** Starts the workers once the cache is in sync. Every cluster is queued first. */
  async work(): Promise<void> {
    await this.#watches.synced();
    if (!this.#watches.hasSynced) return;
    for (const cluster of this.#cache.clusters.values()) this.#queue.add(nameOf(cluster));
    for (const { name } of this.#cache.sequences.values()) this.#sequenceQueue.add(name);
    this.#policyQueue.add(allPolicies);
    for (const eviction of this.#cache.evictions.values()) this.#evictionQueue.add(nameOf(eviction));
    this.#queue.start();
    this.#sequenceQueue.start();
    this.#policyQueue.start();
    this.#evictionQueue.start();
  }

  /** Starts no new reconciliation. Waits for those in progress, then for their Events to be sent. */
  async drain(graceMilliseconds: number): Promise<void> {
    await Promise.all(
      [this.#queue, this.#sequenceQueue, this.#policyQueue, this.#evictionQueue].map((queue) =>
        queue.drain(graceMilliseconds),
      ),
    );
    await this.#recorder.close(eventsGraceMilliseconds);
  }
}

const onDeleteCount = (statefulSet: StatefulSetRecord | null): number => (replacesNobody(statefulSet) ? 1 : 0);
