import { collectDefaultMetrics, Registry } from 'prom-client';
import { Declared, labelValue, type Series } from './declared.ts';
import { RolloutMetrics } from './rollout-metrics.ts';
import { ApiClientMetrics, CacheMetrics, CheckMetrics, WebhookMetrics, WorkQueueMetrics } from './runtime-metrics.ts';

// All metrics of the program in one registry, except those about single rollouts.

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
  readonly policy = this.gauge<'name'>(
    'moco_rollout_controller_policy_in_force',
    'Whether a ValidatingAdmissionPolicy confines what the ServiceAccount may write (1) or not (0); no series before that was tried, and without --leader-elect.',
    'name',
  );
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Each measurement of the event loop wakes the process. With prom-client's default of 10 ms, an idle program spent most
 * of its CPU time on these measurements.
 */
const eventLoopMilliseconds = 50;

/**
 * Gauges of prom-client that are left out, because their names suggest totals. The same numbers exist by kind under
 * better names.
 */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * All metrics of the program in a separate registry, including prom-client's default metrics of the process. Feature
 * gates are shown as in Kubernetes' own metric, and metrics of an optional part only if that part is in use.
 */
export function createMetrics(
  version: string,
  features: readonly { readonly name: string; readonly stage: string; readonly enabled: boolean }[],
  { servesWebhook, drivesPartitions }: { readonly servesWebhook: boolean; readonly drivesPartitions: boolean },
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopMilliseconds });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const showPolicy = (inForce: boolean): void =>
    declared.policy.set({ name: 'controller.moco-rollout.io' }, inForce ? 1 : 0);
  // The metrics have the same order as in docs/reference.md.
  const metrics = {
    registry,
    showPolicy,
    rollouts: new RolloutMetrics(registry, drivesPartitions),
    fleet: new FleetMetrics(registry),
    checks: new CheckMetrics(registry),
    // `null` if this process serves no webhook.
    webhook: servesWebhook ? new WebhookMetrics(registry) : null,
    apiClient: new ApiClientMetrics(registry),
    caches: new CacheMetrics(registry),
    workQueues: new WorkQueueMetrics(registry),
    /** Serves all metrics in Prometheus' text format. */
    handler: async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
  };
  const declared = new ProgramMetrics(registry);
  declared.build.set({ version, node_version: process.version }, 1);
  for (const { name, stage, enabled } of features) declared.features.set({ name, stage }, enabled ? 1 : 0);
  return metrics;
}

/** Gauges about all clusters together: the end of the metric's name, and its help. */
const fleetGauges = {
  slots: ['slots', 'Clusters that may roll at a time (--max-concurrent-rollouts); no series without a limit.'],
  rolling: ['rolling_clusters', 'Clusters whose rollout has begun, or whose preflight runs.'],
  waiting: [
    'waiting_clusters',
    'Clusters with stale members whose rollout has not begun, and whose preflight does not run.',
  ],
  stuck: [
    'stuck_clusters',
    'Clusters that occupy a slot and cannot continue until a person acts; the queue names them (AwaitingFleetSlot).',
  ],
  failing: ['failing_clusters', 'Clusters whose revision fails, or whose rollout has begun and is stalled.'],
  unobservedEvictions: [
    'unobserved_evictions',
    "Evictions that Kubernetes' disruption controller has not observed yet.",
  ],
  waitingForDisruptionController: [
    'evictions_waiting_clusters',
    'Clusters whose next eviction waits until it has observed them (DisruptionControllerBehind).',
  ],
} as const;

/** What the leader knows about all clusters together. `slots` is `null` if there is no limit. */
export type FleetNumbers = Readonly<
  Record<Exclude<keyof typeof fleetGauges, 'slots'>, number> & Record<'slots', number | null>
>;

/** What the leader knows about one stage of a MySQLRolloutSequence. */
interface StageNumbers {
  readonly name: string;
  readonly state: string;
  readonly upToDate: number;
  readonly rolling: number;
  readonly waiting: number;
  readonly failing: number;
  /** How many clusters of the stage may roll at a time. */
  readonly slots: number;
}

export interface SequenceNumbers {
  readonly stages: readonly StageNumbers[];
  /** The first stage that is not complete, or `undefined`. */
  readonly stage: string | undefined;
}

type NumbersOf = () => FleetNumbers | null;

/** The nodes that are being taken out of service, and how many members each still has. */
type LeavingNodesOf = () => readonly { readonly node: string; readonly members: number }[];

/** Whether this process is the leader. If so, also the limits across all clusters, and how much of them is used. */
export class FleetMetrics extends Declared {
  #numbers: NumbersOf = () => null;
  #leavingNodes: LeavingNodesOf = () => [];
  readonly #sequences = new Map<string, SequenceNumbers>();

  constructor(registry: Registry) {
    super(registry);
    for (const [field, [name, help]] of Object.entries(fleetGauges)) {
      this.computed(`moco_rollout_fleet_${name}`, help, [], () => {
        const value = this.#numbers()?.[field as keyof FleetNumbers] ?? null;
        return value === null ? [] : [[{}, value]];
      });
    }
    this.computed(
      'moco_rollout_leaving_node_members',
      'Members of MySQLClusters on a node that is being taken out of service: 0 once the node may go. Only with the feature gate NodeMaintenance.',
      ['node'],
      () => this.#leavingNodes().map(({ node, members }) => [{ node: labelValue(node) }, members]),
    );
    const leads = (): readonly Series[] => [[{}, this.#numbers() === null ? 0 : 1]];
    this.computed('moco_rollout_leader', 'Whether this process leads (1) or stands by (0).', [], leads);
    this.computed(
      'moco_rollout_stage_clusters',
      'Clusters of a stage of a MySQLRolloutSequence, by state (UpToDate, Rolling, Waiting, Failing).',
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
      'Clusters of a stage of a MySQLRolloutSequence that may roll at a time (maxConcurrent).',
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

  /** `numbers` is called whenever the metrics are read. It returns `null` while this process is not the leader. */
  observe(numbers: NumbersOf): void {
    this.#numbers = numbers;
  }

  /** `nodes` is called whenever the metrics are read. */
  observeNodes(nodes: LeavingNodesOf): void {
    this.#leavingNodes = nodes;
  }

  /** `numbers` is `null` once the sequence no longer exists. */
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
