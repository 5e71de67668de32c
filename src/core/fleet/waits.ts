// Why a cluster waits for others, and its place in the queue for slots.

interface NamedStage {
  readonly sequence: string;
  readonly stage: string;
}

/**
 * Why no cluster of a stage may begin. `cluster` is one of the clusters that are the reason, as `namespace/name`. Times
 * are Unix seconds.
 */
export type StageGate =
  /** In the named stage, more rollouts than `maxFailures` are failing. */
  | (NamedStage & {
      readonly rule: 'StageFailing';
      readonly failing: number;
      readonly maxFailures: number;
      readonly cluster: string;
    })
  /**
   * A cluster has left the stage in the middle of a change. It had failed in the stage before, or was the only cluster
   * left.
   */
  | (NamedStage & { readonly rule: 'StageMemberGone'; readonly cluster: string; readonly failing: boolean })
  /** How many clusters of the stage are not up to date and healthy. */
  | (NamedStage & {
      readonly rule: 'AwaitingEarlierStage';
      readonly clusters: number;
      readonly unfinished: number;
      readonly cluster: string;
    })
  /**
   * All clusters of an earlier stage are complete and healthy, but not for long enough yet. `cluster` became complete
   * last.
   */
  | (NamedStage & {
      readonly rule: 'AwaitingSoak';
      readonly soakSeconds: number;
      readonly until: number;
      readonly cluster: string;
    });

export type FleetHold =
  | StageGate
  | { readonly rule: 'SequenceConflict'; readonly sequences: readonly string[] }
  | { readonly rule: 'SequenceInvalid'; readonly sequence: string; readonly problem: string }
  /** A sequence that selected the cluster no longer exists. It may be about to be created again. */
  /** `sequence` is `null` if only the status shows that a sequence existed. */
  | { readonly rule: 'SequenceGone'; readonly sequence: string | null; readonly until: number }
  | { readonly rule: 'SequencesUnreadable'; readonly message: string }
  /**
   * So many rollouts are failing that none may begin (--max-failing-rollouts). `failing` counts every failing rollout
   * in the cluster's own namespace, but all failing rollouts of any one other namespace only once.
   */
  | { readonly rule: 'FleetFailing'; readonly failing: number; readonly limit: number; readonly cluster: string }
  | {
      readonly rule: 'AwaitingSettle';
      readonly sequence: string;
      readonly settleSeconds: number;
      readonly until: number;
    }
  /** The stage has as many rolling clusters as it allows. `place` in the queue counts from 1. */
  | (NamedStage & { readonly rule: 'AwaitingStageSlot'; readonly limit: number; readonly place: number });

/**
 * A hold that other clusters cause. `remainingSeconds` is the time after which it ends by itself; `null` if it does
 * not.
 */
export interface FleetWait {
  readonly hold: FleetHold;
  readonly remainingSeconds: number | null;
}

/** The state of the other clusters, as far as the fleet's limit depends on it. */
export interface FleetCounts {
  readonly limit: number;
  /**
   * How many clusters are rolling: they have replaced members, or one of their members is unavailable. They keep their
   * slots.
   */
  readonly rolling: number;
  /** The clusters that cannot continue until a person acts, by name. */
  readonly stuck: readonly StuckCluster[];
  /** How many of the other clusters have waited longer for a slot. */
  readonly ahead: number;
  /**
   * The cluster that goes first, as `namespace/name`. No other cluster begins until a member of this cluster has
   * verified its revision.
   */
  readonly first?: string | undefined;
}

export interface StuckCluster {
  /** The cluster, as `namespace/name`. */
  readonly cluster: string;
  /** The rule that holds the cluster. */
  readonly rule: string;
}

export interface FleetPlace {
  /** The place in the queue, counted from 1. */
  readonly place: number;
  readonly limit: number;
  /**
   * The rolling clusters that cannot continue until a person acts, by name. Their slots may stay occupied for a long
   * time.
   */
  readonly stuck: readonly StuckCluster[];
  /** The cluster that goes first, as `namespace/name`, while no other cluster may be rolling. */
  readonly first?: string;
  /** Seconds after which `first`, if it is in a different namespace, stops blocking this cluster. */
  readonly firstForSeconds?: number;
  /**
   * A namespace with clusters that already use its whole share of the slots. `limit`, `place` and `stuck` refer to it.
   */
  readonly namespace?: string;
  /** What sets the namespace's share: a flag of the controller, or a policy as `MySQLRolloutPolicy/NAME`. */
  readonly limitedBy?: string;
}

/** The place of a cluster in the queue for slots; `null` if it gets a slot. */
export function fleetPlace({ limit, rolling, stuck, ahead, first }: FleetCounts): FleetPlace | null {
  if (first !== undefined) return { place: ahead + 1, limit: 1, stuck, first };
  const place = ahead + 1 - freeSlots(limit, rolling);
  return limit > 0 && place > 0 ? { place, limit, stuck } : null;
}

/** If the limit was lowered, more clusters may be rolling than it allows. */
export const freeSlots = (limit: number, rolling: number): number => Math.max(0, limit - rolling);
