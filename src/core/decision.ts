import type { FleetPlace } from './fleet.ts';
import type { Evidence, MemberState } from './member.ts';

/** A pod that a step is about, with what its preconditions need. */
export interface Target {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Why a member may go, or a mark has to: the label of a disruption in events and metrics. */
export type StepRule =
  | 'MemberDown'
  | 'MemberUnreachable'
  | 'MemberNotParticipating'
  | 'PrimaryNotParticipating'
  | 'NobodyParticipates'
  | 'MemberImpaired'
  | 'ReplicaHealthy'
  | 'PrimaryLast'
  | 'SingleMember'
  /** Partition mode: nobody is taken away by this. */
  | 'AlreadyUpdated';

/** Why a demotion of ours is taken back. */
export type TakeBackReason =
  | 'NoLongerPrimary'
  | 'NotDue'
  | 'OthersDue'
  | 'TimedOut'
  | 'MarkAlone'
  | 'StrategyChanged'
  | HoldRule;

/** The one thing that a pass does to a cluster. */
export type Step =
  | { readonly kind: 'none' }
  | { readonly kind: 'delete'; readonly rule: StepRule; readonly targets: readonly Target[] }
  | { readonly kind: 'evict'; readonly rule: StepRule; readonly targets: readonly [Target] }
  | {
      readonly kind: 'demote';
      readonly rule: 'PrimaryLast';
      readonly targets: readonly [Target];
      readonly revision: string;
    }
  | {
      readonly kind: 'undemote';
      readonly targets: readonly [Target];
      readonly reason: TakeBackReason;
      /** `demote` itself is still there; else only our mark is. */
      readonly demoted: boolean;
    }
  | { readonly kind: 'setStrategy' }
  /** The label goes and rolling updates come back, with a partition that takes nobody. */
  | { readonly kind: 'handBack' }
  | {
      readonly kind: 'setPartition';
      readonly rule: StepRule;
      readonly partition: number;
      /** The member at that ordinal where it is stale, so that the StatefulSet takes it; else nobody. */
      readonly targets: readonly Target[];
    }
  | { readonly kind: 'promoteRevision'; readonly revision: string; readonly replicas: number };

export type StepKind = Step['kind'];

/** Steps that take a member away or block writes: each is confirmed and written down before it is done. */
export const disruptive: Readonly<Record<StepKind, boolean>> = {
  none: false,
  delete: true,
  evict: true,
  demote: true,
  undemote: true,
  setStrategy: false,
  handBack: false,
  setPartition: true,
  promoteRevision: false,
};

/** A member that is waited for, and what for. */
export type Wait =
  | { readonly for: 'state'; readonly state: MemberState; readonly evidence: Evidence | null }
  | { readonly for: 'role' }
  /** Partition mode: the StatefulSet has still to replace it. */
  | { readonly for: 'revision' }
  | { readonly for: 'minReadySeconds'; readonly minReadySeconds: number };

/** "Not now", by the name of the rule, with its arguments. `explain` makes the sentence. */
export type Hold =
  | { readonly rule: 'SnapshotImpossible'; readonly problem: string }
  | { readonly rule: 'ClusterDeleting' }
  /** The MySQLRollout belongs to another MySQLCluster, named with its uid. */
  | { readonly rule: 'RolloutNotOwned'; readonly owner: string }
  /** The MySQLRollout is being deleted, and these finalizers keep it. */
  | { readonly rule: 'RolloutTerminating'; readonly finalizers: readonly string[] }
  /** Fields of the MySQLRollout's status that its definition does not know and the API server leaves out. */
  | { readonly rule: 'DefinitionOutdated'; readonly fields: readonly string[] }
  | { readonly rule: 'PolicyUnknown'; readonly problem: string }
  | { readonly rule: 'StatefulSetMissing' }
  | { readonly rule: 'StatefulSetDeleting' }
  | { readonly rule: 'StatefulSetNotObserved' }
  | { readonly rule: 'AwaitingOwnWrite'; readonly write: string }
  | { readonly rule: 'HandedBack' }
  | { readonly rule: 'ReconciliationStopped' }
  | { readonly rule: 'ClusteringStopped' }
  | { readonly rule: 'Offline' }
  | { readonly rule: 'ForcedRollingUpdate' }
  /** A dry run came back otherwise than MOCO's next write has to: `finding` says how, as a sentence. */
  | { readonly rule: 'AdmissionNotInForce'; readonly mode: 'OnDelete' | 'Partition'; readonly finding: string }
  | { readonly rule: 'StrategyNotOnDelete'; readonly labelled: boolean }
  /** The hand-back would not come out with a partition that takes nobody. */
  | { readonly rule: 'HandBackUnsafe'; readonly message: string }
  | { readonly rule: 'Paused' }
  | { readonly rule: 'RevisionFlapping'; readonly revisions: number }
  | { readonly rule: 'NotReconciled'; readonly generation: number; readonly succeeded: number | null }
  | { readonly rule: 'NotInitialized' }
  | { readonly rule: 'MemberMissing'; readonly members: readonly number[]; readonly message: string | null }
  | { readonly rule: 'Scaling'; readonly wanted: number; readonly statefulSet: number; readonly pods: number }
  | { readonly rule: 'UpdateRevisionFailing'; readonly member: number; readonly evidence: Evidence }
  | { readonly rule: 'AwaitingSwitchover'; readonly member: number; readonly timeoutSeconds: number }
  | { readonly rule: 'SwitchoverInProgress'; readonly member: number; readonly leaving: boolean }
  | { readonly rule: 'ForeignDemote'; readonly member: number }
  | {
      readonly rule: 'RolesNotSettled';
      readonly members: readonly number[];
      /** The labels are right, and MOCO does not say yet that the primary serves. */
      readonly unavailable?: true;
    }
  | { readonly rule: 'MemberProtected'; readonly member: number }
  | { readonly rule: 'MemberUnreachable'; readonly member: number }
  | { readonly rule: 'AwaitingFailover'; readonly primary: number; readonly graceSeconds: number }
  | { readonly rule: 'AwaitingRecovery'; readonly member: number; readonly graceSeconds: number }
  | ({ readonly rule: 'AwaitingFleetSlot' } & FleetPlace)
  | { readonly rule: 'AwaitingFleetInterval'; readonly flag: string; readonly seconds: number }
  | {
      readonly rule: 'MemberDownOutOfTurn';
      readonly member: number;
      readonly pod: string;
      /** The member whose turn it is. */
      readonly next: number;
      readonly revision: string;
      /** The revision at which it would come up again. */
      readonly current: string;
    }
  /** MOCO's partition controller is about to lower the partition, which takes the member unless it is updated. */
  | { readonly rule: 'AwaitingMoco'; readonly partition: number; readonly member: number }
  | { readonly rule: 'MemberLeaving'; readonly member: number }
  | { readonly rule: 'MemberStuckTerminating'; readonly member: number; readonly graceSeconds: number }
  | {
      readonly rule: 'NotEnoughAcknowledging';
      readonly member: number;
      readonly others: number;
      readonly needed: number;
    }
  | { readonly rule: 'BackupRunning' }
  | { readonly rule: 'UpdatedMemberNotParticipating'; readonly member: number; readonly wait: Wait }
  | { readonly rule: 'BatchNotComplete'; readonly members: readonly number[] }
  | { readonly rule: 'BudgetUsed'; readonly away: readonly number[]; readonly maxUnavailable: number }
  | {
      readonly rule: 'ClusterNotHealthy';
      readonly healthy: boolean;
      readonly synced: number;
      readonly replicas: number;
    }
  | {
      readonly rule: 'BlockedByPDB';
      readonly budget: string;
      readonly cause: 'closed' | 'used' | 'notObserved' | 'refused' | 'several';
      readonly healthy: number;
      readonly needed: number;
      readonly message: string | null;
      /** It is used up by so many evictions whose pods have not been seen to leave; absent where it is by none. */
      readonly awaiting?: number;
    }
  | { readonly rule: 'AwaitingApproval'; readonly member: number; readonly revision: string }
  | { readonly rule: 'PrimaryWaitsForHeld'; readonly member: number; readonly held: readonly number[] }
  | { readonly rule: 'SwitchoverFailing'; readonly member: number; readonly tries: number; readonly retries: boolean }
  | {
      readonly rule: 'PartitionReached';
      readonly partition: number;
      /** Stale members below the partition. */
      readonly members: readonly number[];
      /** Stale members that the user holds. */
      readonly held: readonly number[];
    }
  /** What was read was too old for the step before it could be taken. */
  | { readonly rule: 'ConfirmationTooSlow'; readonly message: string }
  /** The API server did not carry the step out, in its words. */
  | { readonly rule: 'StepRefused'; readonly message: string };

export type HoldRule = Hold['rule'];

/** What becomes of a member, in one word that people can filter for. */
export type VerdictKind =
  | 'Updated'
  | 'Starting'
  | 'Next'
  | 'Waiting'
  | 'KeptBack'
  | 'Held'
  | 'UpdatedOutOfTurn'
  | 'Leaving'
  | 'Missing';

/** One member as the decision saw it. */
export interface MemberReport {
  readonly ordinal: number;
  /** `null` where there is no pod. */
  readonly name: string | null;
  readonly role: 'primary' | 'replica';
  readonly revision: string | null;
  readonly updated: boolean;
  readonly ready: boolean;
  readonly participating: boolean;
  readonly state: MemberState | 'missing';
  readonly evidence: Evidence | null;
  readonly verdict: VerdictKind;
  /** The hold that keeps it waiting, where one does. */
  readonly rule: HoldRule | null;
}

export interface Decision {
  readonly step: Step;
  readonly hold: Hold | null;
  /** By ordinal, the missing ones included. */
  readonly members: readonly MemberReport[];
  /** Members whose revision is not the StatefulSet's update revision, leaving ones included. */
  readonly stale: number;
  /** An updated member has proven the update revision by participating for minReadySeconds. */
  readonly proven: boolean;
  /** Nothing stale, every member participates and is unimpaired, and MOCO has applied the current generation. */
  readonly complete: boolean;
  /** The rollout has not moved for progressDeadlineSeconds although nobody has asked it to wait. */
  readonly progressDeadlineExceeded: boolean;
  /** Seconds until time alone could change this decision; `null` when only an event can. */
  readonly lookAgainInSeconds: number | null;
}
