import { collectDefaultMetrics, Registry } from 'prom-client';
import { Declared, labelValue, type Series } from './declared.ts';
import type { HttpHandler } from './http-server.ts';
import { RolloutMetrics } from './rollout-metrics.ts';
import { ApiClientMetrics, CacheMetrics, CheckMetrics, WebhookMetrics, WorkQueueMetrics } from './runtime-metrics.ts';

class ProgramMetrics extends Declared {
  readonly build = this.gauge(
    'moco_rollout_build_info',
    'Always 1; the labels say what is running.',
    'version',
    'node_version',
  );
  readonly features = this.gauge(
    'kubernetes_feature_enabled',
    'Whether a feature gate is on (1) or off (0), with its stage.',
    'name',
    'stage',
  );
}

/** A feature gate as Kubernetes' own metric shows it. */
interface FeatureState {
  readonly name: string;
  readonly stage: string;
  readonly enabled: boolean;
}

/** What is only shown where there is one. */
interface Parts {
  readonly servesWebhook: boolean;
  readonly drivesPartitions: boolean;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Each look at the event loop wakes the process: every 10 ms, prom-client's default, that was most of an idle program.
 */
const eventLoopMilliseconds = 50;

/** Gauges of prom-client that are called totals; the same numbers are there by kind, under names as they should be. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** All metrics of the program in a registry of their own, the process's defaults included. */
export function createMetrics(
  version: string,
  features: readonly FeatureState[],
  { servesWebhook, drivesPartitions }: Parts,
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopMilliseconds });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const declared = new ProgramMetrics(registry);
  declared.build.set({ version, node_version: process.version }, 1);
  for (const feature of features)
    declared.features.set({ name: feature.name, stage: feature.stage }, feature.enabled ? 1 : 0);
  return {
    registry,
    apiClient: new ApiClientMetrics(registry),
    // `null` where this process serves no webhook.
    webhook: servesWebhook ? new WebhookMetrics(registry) : null,
    rollouts: new RolloutMetrics(registry, drivesPartitions),
    workQueues: new WorkQueueMetrics(registry),
    caches: new CacheMetrics(registry),
    fleet: new FleetMetrics(registry),
    checks: new CheckMetrics(registry),
    /** Serves everything in Prometheus' text format. */
    handler: (async () => ({
      status: 200,
      contentType: registry.contentType,
      body: await registry.metrics(),
    })) satisfies HttpHandler as HttpHandler,
  };
}

/** What the leader knows of all clusters together. */
export interface FleetNumbers {
  /** How many clusters may roll at a time; `null` without a limit. */
  readonly slots: number | null;
  readonly rolling: number;
  /** Clusters with stale members whose rollout has not begun. */
  readonly waiting: number;
  readonly failing: number;
  /** Evictions that Kubernetes' disruption controller has not observed yet. */
  readonly unobservedEvictions: number;
  /** Clusters whose next eviction waits for them. */
  readonly waitingForDisruptionController: number;
}

/** What the leader knows of one stage of a MySQLRolloutSequence. */
interface StageNumbers {
  readonly name: string;
  readonly state: string;
  readonly upToDate: number;
  readonly rolling: number;
  readonly waiting: number;
  readonly failing: number;
  /** How many of its clusters may roll at a time. */
  readonly slots: number;
}

export interface SequenceNumbers {
  readonly stages: readonly StageNumbers[];
  /** The first stage that is not complete, or `undefined`. */
  readonly stage: string | undefined;
}

type NumbersOf = () => FleetNumbers | null;

/** Whether this process leads, and if so the limits across all clusters and how far they are used. */
export class FleetMetrics extends Declared {
  #numbers: NumbersOf = () => null;
  readonly #sequences = new Map<string, SequenceNumbers>();

  constructor(registry: Registry) {
    super(registry);
    const fleet = (name: string, help: string, valueOf: (numbers: FleetNumbers) => number | null): void =>
      this.computed(`moco_rollout_fleet_${name}`, help, [], () => {
        const numbers = this.#numbers();
        const value = numbers && valueOf(numbers);
        return value === null ? [] : [[{}, value]];
      });
    fleet('slots', 'Clusters that may roll at a time; no series without a limit.', ({ slots }) => slots);
    fleet('rolling_clusters', 'Clusters whose rollout has begun.', ({ rolling }) => rolling);
    fleet('waiting_clusters', 'Clusters with stale members whose rollout has not begun.', ({ waiting }) => waiting);
    fleet(
      'failing_clusters',
      'Clusters whose revision fails, or whose rollout has begun and is stalled.',
      ({ failing }) => failing,
    );
    fleet(
      'unobserved_evictions',
      "Evictions that Kubernetes' disruption controller has not observed yet.",
      ({ unobservedEvictions }) => unobservedEvictions,
    );
    fleet(
      'evictions_waiting_clusters',
      'Clusters whose next eviction waits until the disruption controller has observed others.',
      ({ waitingForDisruptionController }) => waitingForDisruptionController,
    );
    this.computed('moco_rollout_leader', 'Whether this process leads: 1, or 0.', [], () => [
      [{}, this.#numbers() === null ? 0 : 1],
    ]);
    this.computed(
      'moco_rollout_stage_clusters',
      'Clusters of a stage of a MySQLRolloutSequence: up to date and healthy, rolling, waiting, or failing.',
      ['sequence', 'stage', 'state'],
      () =>
        this.#ofStages((labels, { upToDate, rolling, waiting, failing }) =>
          Object.entries({ upToDate, rolling, waiting, failing }).map(([state, count]) => [
            { ...labels, state: labelValue(state) },
            count,
          ]),
        ),
    );
    this.computed(
      'moco_rollout_stage_slots',
      'Clusters of a stage of a MySQLRolloutSequence that may roll at a time.',
      ['sequence', 'stage'],
      () => this.#ofStages((labels, { slots }) => [[labels, slots]]),
    );
    this.computed(
      'moco_rollout_sequence_stage',
      'The first stage of a MySQLRolloutSequence that is not complete, and its state: always 1.',
      ['sequence', 'stage', 'state'],
      () => this.#ofStages((labels, { name, state }, current) => (name === current ? [[{ ...labels, state }, 1]] : [])),
    );
  }

  /** `numbers` is called whenever the metrics are read. It returns `null` while this process does not lead. */
  observe(numbers: NumbersOf): void {
    this.#numbers = numbers;
  }

  /** `null` once the sequence does not exist any more. */
  setSequence(name: string, numbers: SequenceNumbers | null): void {
    if (numbers === null) this.#sequences.delete(name);
    else this.#sequences.set(name, numbers);
  }

  #ofStages(
    seriesOf: (
      labels: { readonly sequence: string; readonly stage: string },
      stage: StageNumbers,
      current: string | undefined,
    ) => readonly Series[],
  ): readonly Series[] {
    return [...this.#sequences].flatMap(([sequence, { stages, stage: current }]) =>
      stages.flatMap((stage) => seriesOf({ sequence, stage: stage.name }, stage, current)),
    );
  }
}
