// Why a cluster waits for others, and its place in the queue for slots.

interface NamedStage {
  readonly sequence: string;
  readonly stage: string;
}

/**
 * Why no cluster of a stage may begin. `cluster` is one of those that cause it, as `namespace/name`; times are Unix
 * seconds.
 */
export type StageGate =
  /** More than `maxFailures` of its rollouts fail. */
  | (NamedStage & {
      readonly rule: 'StageFailing';
      readonly failing: number;
      readonly maxFailures: number;
      readonly cluster: string;
    })
  /** A cluster that failed in it, or was the only one left in it, has left it in the middle of a change. */
  | (NamedStage & { readonly rule: 'StageMemberGone'; readonly cluster: string; readonly failing: boolean })
  /** The number of its clusters that are not up to date and healthy. */
  | (NamedStage & {
      readonly rule: 'AwaitingEarlierStage';
      readonly clusters: number;
      readonly unfinished: number;
      readonly cluster: string;
    })
  /**
   * All clusters of an earlier stage are complete and healthy, but not for long enough. `cluster` was the last of them.
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
  /** `sequence` is `null` if the status alone shows that there was one. */
  | { readonly rule: 'SequenceGone'; readonly sequence: string | null; readonly until: number }
  | { readonly rule: 'SequencesUnreadable'; readonly message: string }
  /**
   * So many rollouts fail that none may begin (--max-failing-rollouts). `failing` counts those in the cluster's own
   * namespace, and each other namespace once.
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

/** A hold that other clusters cause, and the seconds until time alone ends it; `null` if time does not end it. */
export interface FleetWait {
  readonly hold: FleetHold;
  readonly remainingSeconds: number | null;
}

/** What the fleet's limit needs to know about the clusters other than the one that asks for a slot. */
export interface FleetCounts {
  readonly limit: number;
  /** How many are rolling: members have been replaced, or one is unavailable. They keep their slots. */
  readonly rolling: number;
  /** Those that cannot continue until a person acts, by name. */
  readonly stuck: readonly StuckCluster[];
  /** How many of the others have waited longer for a slot. */
  readonly ahead: number;
  /**
   * The cluster, as `namespace/name`, that goes first: no other one begins until a member of it has verified its
   * revision.
   */
  readonly first?: string | undefined;
}

export interface StuckCluster {
  /** As `namespace/name`. */
  readonly cluster: string;
  /** What holds it. */
  readonly rule: string;
}

export interface FleetPlace {
  /** In the queue, counted from 1. */
  readonly place: number;
  readonly limit: number;
  /**
   * The rolling clusters that cannot continue until a person acts, by name. Their slots may stay occupied for a long
   * time.
   */
  readonly stuck: readonly StuckCluster[];
  /** The cluster that goes first, as `namespace/name`, if no other cluster may be rolling. */
  readonly first?: string;
  /** After that it keeps this cluster, which is of another namespace, waiting no longer. */
  readonly firstForSeconds?: number;
  /** The namespace whose clusters already use its share of the slots; `limit`, `place` and `stuck` refer to it. */
  readonly namespace?: string;
  /** What sets that share: a flag of the controller, or a policy as `MySQLRolloutPolicy/NAME`. */
  readonly limitedBy?: string;
}

/** Where a cluster waits for a slot; `null` if it gets one. */
export function fleetPlace({ limit, rolling, stuck, ahead, first }: FleetCounts): FleetPlace | null {
  if (first !== undefined) return { place: ahead + 1, limit: 1, stuck, first };
  const place = ahead + 1 - freeSlots(limit, rolling);
  return limit > 0 && place > 0 ? { place, limit, stuck } : null;
}

/** More clusters may be rolling than the limit allows, if it was lowered. */
export const freeSlots = (limit: number, rolling: number): number => Math.max(0, limit - rolling);
