/** Everything about MOCO that a test may want otherwise. Durations are milliseconds of the monotonic clock. */
export interface Settings {
  readonly agentImage: string;
  readonly fluentBitImage: string;
  readonly exporterImage: string;
  readonly clustering: ClusteringDurations;
  readonly partition: PartitionIntervals;
}

/** How long each part of MOCO's clustering takes. */
export interface ClusteringDurations {
  /** From a change to the pass that sees it. The real one runs on events of the StatefulSet and every minute. */
  readonly notice: number;
  /** How long a pass asks a member that doesn't answer, until it does. The real one asks three times, 3 s apart. */
  readonly silence: number;
  /** A switchover: from the primary being read-only to `currentPrimaryIndex` having moved. Writes are refused. */
  readonly drain: number;
  /**
   * A try that fails: from read-only to giving up. The real one waits up to 50 s, and its primary is not ready after 20
   * to 29 s.
   */
  readonly failedTry: number;
  /** From an aborted pass to the next one. */
  readonly retry: number;
  /** A failover: from the pass that sees the primary down to the change of `currentPrimaryIndex`. */
  readonly failover: number;
  /** From the index having moved to the pass that writes `Healthy` False. */
  readonly healthyFalse: number;
  /** From that pass to the replicas following their source. */
  readonly repoint: number;
  /** From there to the role labels. */
  readonly label: number;
  /** From there to the primary taking writes. */
  readonly open: number;
  /** From there to the pass that writes the outcome. */
  readonly healthyTrue: number;
  /** Cloning the data of another MySQL at the start, if the MySQLCluster requests it. */
  readonly clone: number;
}

/** The delays of MOCO's partition controller; every run replaces the delay of an earlier one. */
export interface PartitionIntervals {
  /** The MySQLCluster or the StatefulSet has not been reconciled at its generation yet. */
  readonly notReconciled: number;
  /** The rollout can't continue yet. */
  readonly notReady: number;
  /** After a step. */
  readonly afterStep: number;
  /** How long every other pod has to have been ready. Judged by the wall clock, on timestamps of whole seconds. */
  readonly available: number;
}

/** Shorter than the real delays, in the same order. */
export const fastClustering: ClusteringDurations = {
  notice: 20,
  silence: 100,
  drain: 150,
  failedTry: 300,
  retry: 200,
  failover: 300,
  healthyFalse: 50,
  repoint: 50,
  label: 20,
  open: 20,
  healthyTrue: 50,
  clone: 500,
};

/** Those of MOCO 0.36. */
export const realPartitionIntervals: PartitionIntervals = {
  notReconciled: 10_000,
  notReady: 30_000,
  afterStep: 10_000,
  available: 5_000,
};

export const defaultSettings: Settings = {
  agentImage: 'example/agent:1',
  fluentBitImage: 'ghcr.io/cybozu-go/moco/fluent-bit:5.0.2.1',
  exporterImage: 'ghcr.io/cybozu-go/moco/mysqld_exporter:0.19.0.1',
  clustering: fastClustering,
  partition: realPartitionIntervals,
};
