/** So many rollouts fail that none may begin (--max-failing-rollouts). */
export interface FailingFleet {
  readonly failing: number;
  /** So many failing rollouts stop the others. */
  readonly limit: number;
  /** One of them, as `namespace/name`. */
  readonly cluster: string;
}

/** A stage of a sequence, by their names. */
interface NamedStage {
  readonly sequence: string;
  readonly stage: string;
}

export interface FailingStage extends NamedStage {
  readonly failing: number;
  /** More than so many failing rollouts stop the sequence. */
  readonly maxFailures: number;
  /** One of them. */
  readonly cluster: string;
}

export interface UnfinishedStage extends NamedStage {
  readonly clusters: number;
  /** So many of them are not up to date and healthy. */
  readonly unfinished: number;
  /** One of them. */
  readonly cluster: string;
}

/** All clusters of an earlier stage are complete and healthy, but not for long enough. Times are in Unix seconds. */
export interface SoakingStage extends NamedStage {
  readonly soakSeconds: number;
  readonly until: number;
  /** The cluster that became complete last. */
  readonly cluster: string;
}

export interface SettlingChange {
  readonly sequence: string;
  readonly settleSeconds: number;
  readonly until: number;
}

export interface StageSlots extends NamedStage {
  /** How many clusters of the stage may be rolling. */
  readonly limit: number;
  /** In the queue, counted from 1. */
  readonly place: number;
}

/** Why every cluster of a stage may not begin. */
export type StageGate =
  | ({ readonly rule: 'StageFailing' } & FailingStage)
  | ({ readonly rule: 'AwaitingEarlierStage' } & UnfinishedStage)
  | ({ readonly rule: 'AwaitingSoak' } & SoakingStage);

/** Why a cluster may not begin a rollout, because of other clusters. */
export type FleetHold =
  | StageGate
  | { readonly rule: 'SequenceConflict'; readonly sequences: readonly string[] }
  | { readonly rule: 'SequenceInvalid'; readonly sequence: string; readonly problem: string }
  | { readonly rule: 'SequencesUnreadable'; readonly message: string }
  | ({ readonly rule: 'FleetFailing' } & FailingFleet)
  | ({ readonly rule: 'AwaitingSettle' } & SettlingChange)
  | ({ readonly rule: 'AwaitingStageSlot' } & StageSlots);

/** A hold that others cause, and the seconds until time alone ends it; `null` if time does not end it. */
export interface FleetWait {
  readonly hold: FleetHold;
  readonly remainingSeconds: number | null;
}

/** What the fleet's limit needs to know about the clusters other than the one that asks for a slot. */
export interface FleetCounts {
  /** How many clusters may be rolling; 0 for no limit. */
  readonly limit: number;
  /** How many are rolling: members have been taken, or one is unavailable. They keep their slots. */
  readonly rolling: number;
  /** How many of these cannot continue without a person: condition `Stalled` is True. */
  readonly stalled: number;
  /** How many of the others have needed a slot for longer. */
  readonly ahead: number;
}

export interface FleetPlace {
  /** In the queue, counted from 1. */
  readonly place: number;
  /** How many clusters may be rolling. */
  readonly limit: number;
  /** How many of the rolling clusters are stalled. Their slots will not be free soon. */
  readonly stalled: number;
}

/** Where a cluster waits for a slot; `null` if it gets one. */
export function fleetPlace({ limit, rolling, stalled, ahead }: FleetCounts): FleetPlace | null {
  const place = ahead + 1 - freeSlots(limit, rolling);
  return limit > 0 && place > 0 ? { place, limit, stalled } : null;
}

/** More may be rolling than the limit says, if it has been lowered. */
export const freeSlots = (limit: number, rolling: number): number => Math.max(0, limit - rolling);
