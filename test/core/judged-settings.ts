import type { HoldRule } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, MemberFacts } from '../../src/core/snapshot.ts';

// What the judge of decisions takes the user's settings for: nothing here comes from what decides.

const mayBeOff =
  /^(RevisionFlapping|UpdateRevisionFailing|FailoverUnfinished|ForeignDemote|SequencesUnreadable|SequenceGone|SequenceConflict|SequenceInvalid|StageFailing|StageMemberGone|AwaitingEarlierStage|AwaitingSoak|AwaitingSettle|AwaitingStageSlot|FleetFailing|AwaitingFleetSlot|AwaitingFleetInterval|OutsideMaintenanceWindow|Blackout|CheckFailing|CheckUnavailable|BackupRunning|BackupsUnreadable|ClaimTerminating|NodeTakesNoPods|PlacementUnknown|SuccessorRefused|DisruptionControllerBehind|PrimaryWaitsForPinned|ReplicasBehind|MemberSilent|MocoUnavailable|LongWrite|ImageUnavailable|ConfigurationRefused|PreflightRunning|Cloning|CloneUnknown|VersionRefused|RedoLogOpen|ReplicaClusterOlder|SwitchoverFailing|AwaitingNodeMaintenance)$/;

/** The user has switched the rule off, and the time is not up. */
export const off = ({ overrides }: RolloutPolicy, rule: HoldRule): boolean =>
  mayBeOff.test(rule) && overrides.some((one) => one.rule === rule && one.remainingSeconds > 0);

/** How many may be away at once: found by trying. */
export function room({ cluster }: ClusterSnapshot, { maxUnavailable, partition }: RolloutPolicy): number {
  const { replicas } = cluster;
  let most = 1;
  for (let more = 2; 2 * more <= replicas && more <= replicas - partition; more++) {
    const within =
      typeof maxUnavailable === 'number' ? more <= maxUnavailable : 100 * more <= replicas * parseInt(maxUnavailable);
    if (within) most = more;
  }
  return most;
}

export const kept = ({ pinnedOrdinals, partition }: RolloutPolicy, { ordinal }: MemberFacts): boolean =>
  pinnedOrdinals.includes(ordinal) || !(ordinal >= partition);

export const approved = (policy: RolloutPolicy, { statefulSet }: ClusterSnapshot): boolean =>
  policy.approvedRevision !== null && policy.approvedRevision === (statefulSet?.updateRevision ?? null);
