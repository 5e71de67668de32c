import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { labelValue } from './label-value.ts';
import { SoleSeries } from './sole-series.ts';

type ClusterName = readonly [namespace: string, name: string];

const clusterLabels = ['namespace', 'name'] as const;

/** From a member that starts in seconds to one that clones for hours. */
const memberBucketsSeconds = [1, 2, 5, 10, 20, 40, 60, 90, 120, 180, 300, 600, 1200, 1800, 3600, 7200];
const switchoverBucketsSeconds = [0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 90, 120];
const rolloutBucketsSeconds = [5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/**
 * What Prometheus sees of rollouts. Series that name a cluster are set as a whole from one look at it, so that what
 * no longer holds goes away, and `forgetCluster` takes all of them away. Times are Unix seconds.
 */
export class RolloutMetrics {
  /** Deletes and evictions by this program. */
  readonly disruptions: Counter<'verb' | 'rule'>;
  readonly evictionsRefused: Counter;
  readonly unplannedUpdates: Counter;
  readonly updatesInPlace: Counter<'rule'>;
  readonly resizesInPlace: Counter<'rule'>;
  readonly mysqldRestarts: Counter;
  readonly switchoversAvoided: Counter;
  readonly switchovers: Counter<'outcome'>;
  readonly finished: Counter<'outcome'>;
  readonly delayReadings: Counter<'result'>;
  readonly onDeleteStatefulSets: Gauge;
  readonly memberUpdateDurationSeconds: Histogram;
  readonly switchoverDurationSeconds: Histogram;
  readonly rolloutDurationSeconds: Histogram;
  readonly #members: Gauge<'namespace' | 'name' | 'state'>;
  readonly #staleMembers: Gauge<'namespace' | 'name'>;
  readonly #hold: SoleSeries<'rule'>;
  readonly #noMaintenanceWindow: Gauge<'namespace' | 'name'>;
  readonly #maintenanceOpens: Gauge<'namespace' | 'name'>;
  readonly #failingChecks: Gauge<'namespace' | 'name' | 'check'>;
  readonly #lastProgress: Gauge<'namespace' | 'name'>;
  readonly #stalled: SoleSeries<'reason'>;
  readonly #disruptionsOfCluster: Counter<'namespace' | 'name'>;
  readonly #switchoversOfCluster: Counter<'namespace' | 'name'>;
  readonly #currentReplicas: Gauge<'namespace' | 'name'>;
  readonly #updatedReplicas: Gauge<'namespace' | 'name'>;
  readonly #lastPartitionUpdated: Gauge<'namespace' | 'name'>;
  /** By cluster: the states and the checks that have a series now. */
  readonly #states = new Map<string, ReadonlySet<string>>();
  readonly #checks = new Map<string, readonly string[]>();

  /** `drivesPartitions`: whether this program lowers partitions itself, and shows the series of MOCO's controller. */
  constructor(registry: Registry, drivesPartitions: boolean) {
    const registers = [registry];
    const ofPartitions = drivesPartitions ? registers : [];
    const histogram = (name: string, help: string, buckets: number[]) =>
      new Histogram({ name, help, buckets, registers });
    this.disruptions = new Counter({
      name: 'moco_rollout_disruptions_total',
      help: 'Pods taken down by this program, by verb (delete, evict) and by the rule that allowed it.',
      labelNames: ['verb', 'rule'],
      registers,
    });
    this.evictionsRefused = new Counter({
      name: 'moco_rollout_evictions_refused_total',
      help: 'Evictions that the API server refused because of a PodDisruptionBudget.',
      registers,
    });
    this.unplannedUpdates = new Counter({
      name: 'moco_rollout_unplanned_updates_total',
      help: 'Members that came up at the update revision without a step of this program.',
      registers,
    });
    this.updatesInPlace = new Counter({
      name: 'moco_rollout_updates_in_place_total',
      help: 'Members updated in place, each without a restart of mysqld, by rule (NothingRestarts, ContainersRestart).',
      labelNames: ['rule'],
      registers,
    });
    this.resizesInPlace = new Counter({
      name: 'moco_rollout_resizes_in_place_total',
      help: 'Members resized in place before their update, by rule (ResizeRestartsNothing, ResizeRestartsContainers).',
      labelNames: ['rule'],
      registers,
    });
    this.switchoversAvoided = new Counter({
      name: 'moco_rollout_switchovers_avoided_total',
      help: 'Primaries of several members updated in place, each without a switchover.',
      registers,
    });
    this.mysqldRestarts = new Counter({
      name: 'moco_rollout_in_place_mysqld_restarts_total',
      help: 'Members whose mysqld restarted because of an update in place or its resize.',
      registers,
    });
    this.switchovers = new Counter({
      name: 'moco_rollout_switchovers_total',
      help: 'Switchovers that this program asked MOCO for, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.finished = new Counter({
      name: 'moco_rollout_finished_total',
      help: 'Rollouts that ended, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.delayReadings = new Counter({
      name: 'moco_rollout_replication_delay_readings_total',
      help: 'Replicas that were asked how far they are behind, by result (Delay, NotReplicating, Unknown).',
      labelNames: ['result'],
      registers,
    });
    this.onDeleteStatefulSets = new Gauge({
      name: 'moco_rollout_ondelete_statefulsets',
      help: 'StatefulSets of MOCO at OnDelete, or kept at partition = replicas while new pods come up at the current revision.',
      registers,
    });
    this.memberUpdateDurationSeconds = histogram(
      'moco_rollout_member_update_duration_seconds',
      'Time from the disruption of a member until its successor participates.',
      memberBucketsSeconds,
    );
    this.switchoverDurationSeconds = histogram(
      'moco_rollout_switchover_duration_seconds',
      'Time from the request for a switchover until it was done.',
      switchoverBucketsSeconds,
    );
    this.rolloutDurationSeconds = histogram(
      'moco_rollout_duration_seconds',
      'Time from the first stale member of an update revision until no member was stale.',
      rolloutBucketsSeconds,
    );
    this.#members = new Gauge({
      name: 'moco_rollout_members',
      help: 'Members of a cluster by state.',
      labelNames: [...clusterLabels, 'state'],
      registers,
    });
    this.#staleMembers = new Gauge({
      name: 'moco_rollout_stale_members',
      help: 'Members of a cluster whose revision is not the update revision.',
      labelNames: clusterLabels,
      registers,
    });
    const holdSince = new Gauge({
      name: 'moco_rollout_hold_since_timestamp_seconds',
      help: 'Since when the rule holds the rollout of a cluster; no series while nothing holds it.',
      labelNames: [...clusterLabels, 'rule'],
      registers,
    });
    this.#hold = new SoleSeries(holdSince, 'rule');
    this.#noMaintenanceWindow = new Gauge({
      name: 'moco_rollout_no_maintenance_window',
      help: 'No maintenance window of the next 30 days is long enough for the primary of a cluster; no series otherwise.',
      labelNames: clusterLabels,
      registers,
    });
    this.#maintenanceOpens = new Gauge({
      name: 'moco_rollout_maintenance_opens_timestamp_seconds',
      help: 'When the next step of a rollout may begin that waits for a maintenance window or the end of a blackout.',
      labelNames: clusterLabels,
      registers,
    });
    this.#failingChecks = new Gauge({
      name: 'moco_rollout_check_failing',
      help: 'A check of a cluster fails and holds its rollout, or a later stage; no series otherwise.',
      labelNames: [...clusterLabels, 'check'],
      registers,
    });
    this.#currentReplicas = new Gauge({
      name: 'moco_cluster_current_replicas',
      help: 'Members at the current revision of the StatefulSet, where this program lowers its partition.',
      labelNames: clusterLabels,
      registers: ofPartitions,
    });
    this.#updatedReplicas = new Gauge({
      name: 'moco_cluster_updated_replicas',
      help: 'Members at the update revision of the StatefulSet, where this program lowers its partition.',
      labelNames: clusterLabels,
      registers: ofPartitions,
    });
    this.#lastPartitionUpdated = new Gauge({
      name: 'moco_cluster_last_partition_updated',
      help: 'When this program last lowered the partition of the StatefulSet, in Unix seconds.',
      labelNames: clusterLabels,
      registers: ofPartitions,
    });
    const stalled = new Gauge({
      name: 'moco_rollout_stalled',
      help: 'Condition Stalled of the MySQLRollout is True, with its reason: 1; no series otherwise.',
      labelNames: [...clusterLabels, 'reason'],
      registers,
    });
    this.#stalled = new SoleSeries(stalled, 'reason');
    this.#disruptionsOfCluster = new Counter({
      name: 'moco_rollout_cluster_disruptions_total',
      help: 'Pods of a cluster taken down by this program.',
      labelNames: clusterLabels,
      registers,
    });
    this.#switchoversOfCluster = new Counter({
      name: 'moco_rollout_cluster_switchovers_total',
      help: 'Switchovers of a cluster that this program asked MOCO for, whatever their outcome.',
      labelNames: clusterLabels,
      registers,
    });
    this.#lastProgress = new Gauge({
      name: 'moco_rollout_last_progress_timestamp_seconds',
      help: 'When the rollout under way last got further; no series while there is none.',
      labelNames: clusterLabels,
      registers,
    });
  }

  /**
   * What MOCO's own partition controller shows under the same names; `null` where this program does not lower the
   * cluster's partition. `lastUpdatedSeconds` is `null` before the first time.
   */
  setPartition(
    [namespace, name]: ClusterName,
    partition: {
      readonly current: number;
      readonly updated: number;
      readonly lastUpdatedSeconds: number | null;
    } | null,
  ): void {
    const cluster = { namespace, name };
    if (partition === null) {
      for (const gauge of [this.#currentReplicas, this.#updatedReplicas, this.#lastPartitionUpdated])
        gauge.remove(cluster);
      return;
    }
    this.#currentReplicas.set(cluster, partition.current);
    this.#updatedReplicas.set(cluster, partition.updated);
    if (partition.lastUpdatedSeconds !== null) this.#lastPartitionUpdated.set(cluster, partition.lastUpdatedSeconds);
  }

  /** Pods that this program has taken down. */
  countDisruptions([namespace, name]: ClusterName, verb: string, rule: string, count: number): void {
    this.disruptions.inc({ verb, rule }, count);
    this.#disruptionsOfCluster.inc({ namespace, name }, count);
  }

  /** `cluster` is `null` where it is not known any more. */
  countSwitchover(cluster: ClusterName | null, outcome: string): void {
    this.switchovers.inc({ outcome: labelValue(outcome) });
    if (cluster !== null) this.#switchoversOfCluster.inc({ namespace: cluster[0], name: cluster[1] });
  }

  countDelayReading(result: string): void {
    this.delayReadings.inc({ result: labelValue(result) });
  }

  /** Members by state; a state that isn't given has no member any more. */
  setMembers(cluster: ClusterName, countByState: Readonly<Record<string, number>>, stale: number): void {
    const [namespace, name] = cluster;
    const before = this.#states.get(keyOf(cluster));
    if (before === undefined) {
      // A counter has to be there before it first counts: Prometheus sees no increase otherwise.
      this.#disruptionsOfCluster.inc({ namespace, name }, 0);
      this.#switchoversOfCluster.inc({ namespace, name }, 0);
    }
    for (const state of before ?? []) {
      if (!Object.hasOwn(countByState, state)) this.#removeState(cluster, state);
    }
    for (const [state, count] of Object.entries(countByState))
      this.#members.set({ namespace, name, state: labelValue(state) }, count);
    this.#states.set(keyOf(cluster), new Set(Object.keys(countByState)));
    this.#staleMembers.set({ namespace, name }, stale);
  }

  /** The one hold of a cluster, or `null` when there is none. */
  setHold(cluster: ClusterName, hold: { readonly rule: string; readonly sinceSeconds: number } | null): void {
    this.#hold.set(cluster, hold?.rule ?? null, hold?.sinceSeconds ?? 0);
  }

  /** The reason for which the rollout of a cluster is stalled, or `null`. */
  setStalled(cluster: ClusterName, reason: string | null): void {
    this.#stalled.set(cluster, reason, 1);
  }

  setMaintenanceWindow([namespace, name]: ClusterName, isLongEnough: boolean): void {
    if (isLongEnough) this.#noMaintenanceWindow.remove({ namespace, name });
    else this.#noMaintenanceWindow.set({ namespace, name }, 1);
  }

  /** When a rollout may go on that rests outside of its maintenance windows, or `null`. */
  setMaintenanceOpens([namespace, name]: ClusterName, seconds: number | null): void {
    if (seconds === null) this.#maintenanceOpens.remove({ namespace, name });
    else this.#maintenanceOpens.set({ namespace, name }, seconds);
  }

  /** The checks that fail and hold. */
  setFailingChecks(cluster: ClusterName, checks: readonly string[]): void {
    const [namespace, name] = cluster;
    const gone = (this.#checks.get(keyOf(cluster)) ?? []).filter((check) => !checks.includes(check));
    for (const check of gone) this.#failingChecks.remove({ namespace, name, check });
    for (const check of checks) this.#failingChecks.set({ namespace, name, check }, 1);
    if (checks.length === 0) this.#checks.delete(keyOf(cluster));
    else this.#checks.set(keyOf(cluster), checks);
  }

  /** When the rollout under way last got further, or `null` when none is under way. */
  setLastProgress([namespace, name]: ClusterName, seconds: number | null): void {
    if (seconds === null) this.#lastProgress.remove({ namespace, name });
    else this.#lastProgress.set({ namespace, name }, seconds);
  }

  /** Takes away every series that names the cluster. */
  forgetCluster(namespace: string, name: string): void {
    const cluster: ClusterName = [namespace, name];
    for (const state of this.#states.get(keyOf(cluster)) ?? []) this.#removeState(cluster, state);
    this.#states.delete(keyOf(cluster));
    for (const one of [this.#staleMembers, this.#disruptionsOfCluster, this.#switchoversOfCluster])
      one.remove({ namespace, name });
    this.setHold(cluster, null);
    this.setStalled(cluster, null);
    this.setMaintenanceWindow(cluster, true);
    this.setMaintenanceOpens(cluster, null);
    this.setFailingChecks(cluster, []);
    this.setLastProgress(cluster, null);
    this.setPartition(cluster, null);
  }

  #removeState([namespace, name]: ClusterName, state: string): void {
    this.#members.remove({ namespace, name, state: labelValue(state) });
  }
}

function keyOf([namespace, name]: ClusterName): string {
  return `${namespace}/${name}`;
}
