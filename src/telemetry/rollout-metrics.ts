import type { Registry } from 'prom-client';
import { Declared, labelValue, type Series } from './declared.ts';

// The metrics about rollouts. The dashboard and the alerts use these names.

/** The buckets cover members that start in seconds as well as members that clone for hours. */
const memberBucketsSeconds = [1, 2, 5, 10, 20, 40, 60, 90, 120, 180, 300, 600, 1200, 1800, 3600, 7200];
const switchoverBucketsSeconds = [0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 90, 120];
const questionBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const rolloutBucketsSeconds = [5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/**
 * The gauges about one cluster: the name, the help, and an extra label if the gauge has several series. A gauge has no
 * series while its value is `null`. Times are Unix seconds.
 */
const clusterGauges = {
  members: ['moco_rollout_members', 'Members of a cluster by state.', 'state'],
  staleMembers: ['moco_rollout_stale_members', 'Members of a cluster whose revision is not the update revision.'],
  hold: [
    'moco_rollout_hold_since_timestamp_seconds',
    'Since when the rule holds the rollout of a cluster; no series while nothing holds it.',
    'rule',
  ],
  noMaintenanceWindow: [
    'moco_rollout_no_maintenance_window',
    'No maintenance window of the next 30 days is long enough for the primary of a cluster; no series otherwise.',
  ],
  maintenanceOpens: [
    'moco_rollout_maintenance_opens_timestamp_seconds',
    'When the next step of a rollout may begin if it waits for a maintenance window or the end of a blackout; no series otherwise.',
  ],
  failingChecks: [
    'moco_rollout_check_failing',
    'A check of a cluster fails and holds its rollout, or a later stage; no series otherwise.',
    'check',
  ],
  notReceived: [
    'moco_rollout_replica_transactions_not_received',
    'Transactions that the primary had committed and a replica had not received when it was last asked, by pod.',
    'pod',
  ],
  notApplied: [
    'moco_rollout_replica_transactions_not_applied',
    'Transactions that a replica had received but not applied when it was last asked, by pod.',
    'pod',
  ],
  overrides: [
    'moco_rollout_override_until_timestamp_seconds',
    'When the override of a rule that is in force for a cluster ends; no series otherwise.',
    'rule',
  ],
  currentReplicas: [
    'moco_cluster_current_replicas',
    'Members at the current revision of the StatefulSet, if this program lowers its partition.',
  ],
  updatedReplicas: [
    'moco_cluster_updated_replicas',
    'Members at the update revision of the StatefulSet, if this program lowers its partition.',
  ],
  lastPartitionUpdated: [
    'moco_cluster_last_partition_updated',
    'When this program last lowered the partition of the StatefulSet, in Unix seconds.',
  ],
  stalled: [
    'moco_rollout_stalled',
    'Condition Stalled of the MySQLRollout is True, with its reason: 1; no series otherwise.',
    'reason',
  ],
  lastProgress: [
    'moco_rollout_last_progress_timestamp_seconds',
    'When the rollout in progress last made progress; no series while there is none.',
  ],
} as const satisfies Readonly<Record<string, readonly [name: string, help: string, label?: string]>>;

type ClusterGauges = typeof clusterGauges;

/**
 * The values of the gauges about one cluster. A gauge with an extra label has a value for each value of the label.
 * `undefined` leaves a gauge as it is.
 */
export type ClusterValues = {
  readonly [Field in keyof ClusterGauges]:
    | (ClusterGauges[Field] extends readonly [string, string, string] ? Readonly<Record<string, number>> : number)
    | null
    | undefined;
};

/**
 * These gauges exist only if this program lowers partitions, because MOCO's own controller has series with the same
 * names.
 */
const ofPartitions: ReadonlySet<string> = new Set(['currentReplicas', 'updatedReplicas', 'lastPartitionUpdated']);

export type ClusterName = readonly [namespace: string, name: string];
const clusterLabels = ['namespace', 'name'] as const;

/** The gauges about clusters. Their series are exactly those of the values that were set last. */
class ClusterMetrics extends Declared {
  readonly #clusters = new Map<string, { readonly cluster: ClusterName; readonly values: Partial<ClusterValues> }>();

  constructor(registry: Registry, drivesPartitions: boolean) {
    super(registry);
    for (const [field, [name, help, label]] of Object.entries(clusterGauges)) {
      if (!drivesPartitions && ofPartitions.has(field)) continue;
      const labels = [...clusterLabels, ...(label === undefined ? [] : [label])];
      this.computed(name, help, labels, () => this.#seriesOf(field as keyof ClusterValues, label));
    }
  }

  setCluster(cluster: ClusterName, values: Partial<ClusterValues>): void {
    const key = cluster.join('/');
    const before = this.#clusters.get(key)?.values;
    const said = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    this.#clusters.set(key, { cluster, values: { ...before, ...said } });
  }

  forget(cluster: ClusterName): void {
    this.#clusters.delete(cluster.join('/'));
  }

  #seriesOf(field: keyof ClusterValues, label: string | undefined): readonly Series[] {
    return [...this.#clusters.values()].flatMap(({ cluster: [namespace, name], values }) => {
      const value = values[field] ?? {};
      return typeof value === 'number'
        ? [[{ namespace, name }, value] as const]
        : Object.entries(value).map(([word, number]) => [{ namespace, name, [label ?? '']: word }, number] as const);
    });
  }
}

/** The metrics about rollouts that Prometheus sees. */
export class RolloutMetrics extends ClusterMetrics {
  readonly #disruptionsOfCluster = this.counter(
    'moco_rollout_cluster_disruptions_total',
    'Pods of a cluster taken down by this program.',
    ...clusterLabels,
  );
  readonly #switchoversOfCluster = this.counter(
    'moco_rollout_cluster_switchovers_total',
    'Switchovers of a cluster that this program requested from MOCO, whatever their outcome.',
    ...clusterLabels,
  );
  readonly #disruptions = this.counter(
    'moco_rollout_disruptions_total',
    'Pods taken down by this program, by verb (delete, evict) and by the rule that allowed it.',
    'verb',
    'rule',
  );
  readonly evictionsRefused = this.counter(
    'moco_rollout_evictions_refused_total',
    'Evictions that the API server refused because of a PodDisruptionBudget.',
  );
  readonly unplannedUpdates = this.counter(
    'moco_rollout_unplanned_updates_total',
    'Members that came up at the update revision without a step of this program.',
  );
  readonly updatesInPlace = this.counter(
    'moco_rollout_updates_in_place_total',
    'Members updated in place, each without a restart of mysqld, by rule (NothingRestarts, ContainersRestart).',
    'rule',
  );
  readonly resizesInPlace = this.counter(
    'moco_rollout_resizes_in_place_total',
    'Members resized in place before their update, by rule (ResizeRestartsNothing, ResizeRestartsContainers).',
    'rule',
  );
  readonly switchoversAvoided = this.counter(
    'moco_rollout_switchovers_avoided_total',
    'Primaries of several members updated in place, each without a switchover.',
  );
  readonly mysqldRestarts = this.counter(
    'moco_rollout_in_place_mysqld_restarts_total',
    'Members whose mysqld restarted because of an update in place or its resize.',
  );
  readonly #switchovers = this.counter(
    'moco_rollout_switchovers_total',
    'Switchovers that this program requested from MOCO, by outcome (Done, TakenBack).',
    'outcome',
  );
  readonly finished = this.counter(
    'moco_rollout_finished_total',
    'Rollouts that ended, by outcome (Complete, Superseded).',
    'outcome',
  );
  readonly countDelayReading = this.countOf(
    'moco_rollout_replication_delay_readings_total',
    'Replicas that were asked how far they are behind, by result (Delay, NotReplicating, Unknown).',
    'result',
  );
  readonly countMysqlReading = this.countOf(
    'moco_rollout_mysql_readings_total',
    'Members whose mysqld was asked, by result (Primary, Replica, Unknown). Only with the feature gate ReplicationFacts.',
    'result',
  );
  readonly countPreflight = this.countOf(
    'moco_rollout_preflights_total',
    'Nodes that were asked whether they can run an update revision, by result (Present, Fetched, Accepted, ' +
      'ImageUnavailable, ConfigurationRefused, TimedOut, Skipped, Unknown). Only with the setting preflight.',
    'result',
  );
  readonly onDeleteStatefulSets = this.gauge(
    'moco_rollout_ondelete_statefulsets',
    'StatefulSets of MOCO at OnDelete, or kept at partition = replicas while new pods start at the current revision.',
  );
  readonly memberUpdateDurationSeconds = this.histogram(
    'moco_rollout_member_update_duration_seconds',
    'Time from the disruption of a member until its successor participates.',
    memberBucketsSeconds,
  );
  readonly switchoverDurationSeconds = this.histogram(
    'moco_rollout_switchover_duration_seconds',
    'Time from the request for a switchover until it was done.',
    switchoverBucketsSeconds,
  );
  readonly rolloutDurationSeconds = this.histogram(
    'moco_rollout_duration_seconds',
    'Time from the first stale member of an update revision until no member was stale.',
    rolloutBucketsSeconds,
  );
  readonly questionDurationSeconds = this.histogram(
    'moco_rollout_question_duration_seconds',
    'Time from a question to its answer, by question: what is asked before a step, including the confirmation of the step.',
    questionBucketsSeconds,
    'question',
  );

  override setCluster(cluster: ClusterName, values: Partial<ClusterValues>): void {
    super.setCluster(cluster, values);
    const [namespace, name] = cluster;
    // A counter has to exist before it is first incremented. Otherwise Prometheus would not see the first increase.
    this.#disruptionsOfCluster.inc({ namespace, name }, 0);
    this.#switchoversOfCluster.inc({ namespace, name }, 0);
  }

  override forget(cluster: ClusterName): void {
    super.forget(cluster);
    this.#disruptionsOfCluster.remove(...cluster);
    this.#switchoversOfCluster.remove(...cluster);
  }

  countDisruptions([namespace, name]: ClusterName, verb: string, rule: string, count: number): void {
    this.#disruptions.inc({ verb, rule }, count);
    this.#disruptionsOfCluster.inc({ namespace, name }, count);
  }

  /** `cluster` is `null` if the cluster is no longer known. */
  countSwitchover(cluster: ClusterName | null, outcome: string): void {
    this.#switchovers.inc({ outcome: labelValue(outcome) });
    if (cluster !== null) this.#switchoversOfCluster.inc({ namespace: cluster[0], name: cluster[1] });
  }
}
