import type { Deadlines } from './deadlines.ts';
import type { HoldRule } from './decision.ts';
import type { RolloutPolicy } from './policy.ts';

/**
 * What each rule says of itself: whether a person may switch it off for a while. Not where it guards an invariant of
 * SPEC.md, and not where MOCO or Kubernetes would refuse what it keeps us from.
 */
export const overridable: Readonly<Record<HoldRule, boolean>> = {
  SnapshotImpossible: false,
  ClusterDeleting: false,
  RolloutNotOwned: false,
  RolloutTerminating: false,
  PolicyUnknown: false,
  StatefulSetMissing: false,
  DefinitionOutdated: false,
  StatefulSetDeleting: false,
  StatefulSetNotObserved: false,
  AwaitingOwnWrite: false,
  HandedBack: false,
  ReconciliationStopped: false,
  ClusteringStopped: false,
  Offline: false,
  ForcedRollingUpdate: false,
  AdmissionNotInForce: false,
  StrategyNotOnDelete: false,
  HandBackUnsafe: false,
  Paused: false,
  RevisionFlapping: true,
  NotReconciled: false,
  NotInitialized: false,
  MemberMissing: false,
  Scaling: false,
  UpdateRevisionFailing: true,
  AwaitingSwitchover: false,
  SwitchoverInProgress: false,
  ForeignDemote: true,
  RolesNotSettled: false,
  MemberProtected: false,
  MemberUnreachable: false,
  AwaitingFailover: false,
  AwaitingRecovery: false,
  AwaitingFleetSlot: true,
  AwaitingFleetInterval: true,
  MemberDownOutOfTurn: false,
  AwaitingMoco: false,
  MemberLeaving: false,
  MemberStuckTerminating: false,
  NotEnoughAcknowledging: false,
  BackupRunning: true,
  UpdatedMemberNotParticipating: false,
  BatchNotComplete: true,
  BudgetUsed: false,
  ClusterNotHealthy: false,
  BlockedByPDB: false,
  AwaitingApproval: false,
  PrimaryWaitsForHeld: true,
  SwitchoverFailing: true,
  PartitionReached: false,
  ConfirmationTooSlow: false,
  StepRefused: false,
};

const none: ReadonlySet<HoldRule> = new Set();

/** The rules that are off at the moment. What can't be overridden is on, whatever the policy says. */
export function overriddenRules({ overrides }: RolloutPolicy, deadlines: Deadlines): ReadonlySet<HoldRule> {
  if (overrides.length === 0) return none;
  return new Set(
    overrides
      .filter(({ rule, remainingSeconds }) => overridable[rule] && !deadlines.reached(0, remainingSeconds))
      .map(({ rule }) => rule),
  );
}
