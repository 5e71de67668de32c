import type { Decision, Hold, Step, TakeBackReason, Wait } from './decision.ts';
import type { Evidence } from './member.ts';

/** How a member is called where the sentence is shown, such as `moco-test-2`. */
export type MemberName = (ordinal: number) => string;

/** One sentence that says what is waited for, with names and numbers and without a full stop. No elapsed times. */
export function explainHold(hold: Hold, name: MemberName): string {
  const names = (ordinals: readonly number[]): string => ordinals.map(name).join(', ');
  switch (hold.rule) {
    case 'SnapshotImpossible':
      return `the cluster's objects contradict each other: ${hold.problem}`;
    case 'ClusterDeleting':
      return 'the MySQLCluster is being deleted';
    case 'RolloutNotOwned':
      return `the MySQLRollout belongs to another MySQLCluster, ${hold.owner}: remove its ownerReferences to keep its spec, or delete it`;
    case 'RolloutTerminating':
      return `the MySQLRollout is being deleted${hold.finalizers.length === 0 ? '' : ` and kept by its finalizers: ${hold.finalizers.join(', ')}`}`;
    case 'DefinitionOutdated':
      return `the CRD of MySQLRollouts is older than moco-rollout and does not keep ${hold.fields.join(', ')}: apply the CRDs of its version`;
    case 'PolicyUnknown':
      return `the MySQLRollout can't be followed: ${withoutFullStop(hold.problem)}`;
    case 'StatefulSetMissing':
      return 'the StatefulSet does not exist';
    case 'StatefulSetDeleting':
      return 'the StatefulSet is being deleted or re-created';
    case 'StatefulSetNotObserved':
      return 'Kubernetes has not yet looked at the newest StatefulSet';
    case 'AwaitingOwnWrite':
      return `waiting to see the effect of the last step (${hold.write})`;
    case 'HandedBack':
      return 'the cluster was handed back to MOCO';
    case 'ReconciliationStopped':
      return "MOCO's reconciliation of this cluster is stopped by annotation";
    case 'ClusteringStopped':
      return "MOCO's clustering of this cluster is stopped by annotation";
    case 'Offline':
      return 'the cluster is offline';
    case 'ForcedRollingUpdate':
      return "annotation force-rolling-update hands the update to the StatefulSet's own rolling update";
    case 'AdmissionNotInForce':
      return hold.mode === 'OnDelete'
        ? `admission does not keep the StatefulSet at OnDelete: ${withoutFullStop(hold.finding)}`
        : `admission does not hold the StatefulSet back at partition = replicas: ${withoutFullStop(hold.finding)}`;
    case 'HandBackUnsafe':
      return `the StatefulSet can't be given back without risk to its pods: ${withoutFullStop(hold.message)}`;
    case 'StrategyNotOnDelete':
      return hold.labelled
        ? 'the StatefulSet carries the label and yet is not at OnDelete'
        : 'the StatefulSet is not yet at OnDelete';
    case 'Paused':
      return 'paused in the MySQLRollout';
    case 'RevisionFlapping':
      return `${hold.revisions} update revisions within ten minutes: two writers seem to fight over the template`;
    case 'NotReconciled':
      return `MOCO has not yet applied generation ${hold.generation} of the MySQLCluster${hold.succeeded === null || hold.succeeded === hold.generation ? '' : ` (it is at ${hold.succeeded})`}`;
    case 'NotInitialized':
      return 'the cluster is not initialized: it is cloning, restoring, or has never started';
    case 'MemberMissing':
      return `${names(hold.members)} ${hold.members.length === 1 ? 'does' : 'do'} not exist${hold.message === null ? '' : `: ${hold.message}`}`;
    case 'Scaling':
      return `scaling comes first: ${hold.wanted} wanted, the StatefulSet has ${hold.statefulSet}, there are ${hold.pods} pods`;
    case 'UpdateRevisionFailing':
      return `the new revision fails on ${name(hold.member)}: ${explainEvidence(hold.evidence)}; nobody else gets it until the template is corrected`;
    case 'AwaitingSwitchover':
      return `asked MOCO to move the primary away from ${name(hold.member)}; at most ${hold.timeoutSeconds} s`;
    case 'SwitchoverInProgress':
      return `the primary is moving away from ${name(hold.member)}, ${hold.leaving ? 'which is terminating' : 'which somebody else demoted'}`;
    case 'ForeignDemote':
      return `${name(hold.member)} carries a demote annotation that this controller did not set`;
    case 'RolesNotSettled':
      return hold.unavailable
        ? `MOCO does not report the cluster as Available, although its primary ${names(hold.members)} participates`
        : `MOCO has not finished with the roles of ${names(hold.members)}`;
    case 'MemberProtected':
      return `${name(hold.member)} carries MOCO's annotation prevent-delete, as it does while a replica lags: its pod can't be deleted`;
    case 'MemberUnreachable':
      return `the node of ${name(hold.member)} does not answer`;
    case 'AwaitingFailover':
      return `the primary ${name(hold.primary)} does not participate; MOCO has ${hold.graceSeconds} s for a failover`;
    case 'AwaitingRecovery':
      return `${name(hold.member)} runs without participating; it has ${hold.graceSeconds} s to recover`;
    case 'AwaitingFleetSlot':
      return `${hold.limit} clusters may be rolling at a time; this one is number ${hold.place} in the queue${stalledSlots(hold.stalled)}`;
    case 'AwaitingFleetInterval':
      return `at least ${hold.seconds} s are left between two disruptions in the whole fleet (${hold.flag})`;
    case 'MemberDownOutOfTurn':
      return `${name(hold.member)} does not work, and partitions reach it only after ${name(hold.next)}; \`kubectl delete pod ${hold.pod}\` makes it try again at revision ${hold.current}${hold.current === hold.revision ? '' : ` instead of ${hold.revision}`}`;
    case 'AwaitingMoco':
      return `MOCO's partition controller lowers the partition to ${hold.partition}, which reaches ${name(hold.member)}`;
    case 'MemberLeaving':
      return `${name(hold.member)} is terminating`;
    case 'MemberStuckTerminating':
      return hold.graceSeconds === 0
        ? `${name(hold.member)} is still there although its grace period has been ended; a finalizer may keep it`
        : `${name(hold.member)} is still terminating after its grace period of ${hold.graceSeconds} s`;
    case 'NotEnoughAcknowledging':
      return `without ${name(hold.member)} ${hold.others} ${hold.others === 1 ? 'member is' : 'members are'} known to acknowledge commits, and ${hold.needed} are needed, the primary among them`;
    case 'BackupRunning':
      return 'a backup is running';
    case 'UpdatedMemberNotParticipating':
      return hold.wait.for === 'revision'
        ? `the StatefulSet has still to replace ${name(hold.member)}`
        : `${name(hold.member)} is updated, but ${explainWait(hold.wait)}`;
    case 'BatchNotComplete':
      return `${names(hold.members)} of the batch before ${hold.members.length === 1 ? 'is' : 'are'} not done`;
    case 'BudgetUsed':
      return `${names(hold.away)} ${hold.away.length === 1 ? 'is' : 'are'} away, and at most ${hold.maxUnavailable} may be`;
    case 'ClusterNotHealthy':
      return hold.healthy
        ? `${hold.synced} of ${hold.replicas} members are in sync`
        : 'MOCO does not report the cluster as Healthy';
    case 'BlockedByPDB':
      return explainBudget(hold);
    case 'AwaitingApproval':
      return `the primary ${name(hold.member)} waits for approval of revision ${hold.revision}`;
    case 'PrimaryWaitsForHeld':
      return `the primary ${name(hold.member)} waits for ${names(hold.held)}, held at the revision before: a replica must not be older than its source`;
    case 'SwitchoverFailing':
      return `the switchover away from ${name(hold.member)} has failed ${times(hold.tries)}${hold.retries ? '; it will be tried again' : '; it will not be tried again for this revision'}`;
    case 'PartitionReached':
      return [
        ...(hold.members.length > 0
          ? [`partition ${hold.partition} keeps ${names(hold.members)} at the revision before`]
          : []),
        ...(hold.held.length > 0
          ? [`${names(hold.held)} ${hold.held.length === 1 ? 'is' : 'are'} held at the revision before`]
          : []),
      ].join('; ');
    case 'ConfirmationTooSlow':
      return `the API server is too slow for a step to be safe: ${withoutFullStop(hold.message)}`;
    case 'StepRefused':
      return `the API server does not carry the step out: ${withoutFullStop(hold.message)}`;
  }
}

function explainBudget(hold: Extract<Hold, { rule: 'BlockedByPDB' }>): string {
  const budget = `PodDisruptionBudget ${hold.budget}`;
  switch (hold.cause) {
    case 'closed':
      return `${budget} allows no disruption at all, as it does while a backup runs`;
    case 'used':
      return `${budget} needs ${hold.needed} healthy pods and has ${hold.healthy}${hold.awaiting === undefined ? '' : `; it still counts ${hold.awaiting === 1 ? 'an eviction' : `${hold.awaiting} evictions`} of before, for two minutes at most`}`;
    case 'notObserved':
      return `${budget} has been changed and Kubernetes has not yet counted again`;
    case 'refused':
      return `the eviction was refused: ${withoutFullStop(hold.message ?? `${budget} needs ${hold.needed} healthy pods`)}`;
    case 'several':
      return `more than one PodDisruptionBudget selects the members (${hold.budget} is one), and Kubernetes evicts no such pod`;
  }
}

export function explainEvidence(evidence: Evidence): string {
  switch (evidence.kind) {
    case 'waiting':
      return `container ${evidence.container} waits: ${evidence.reason}${restarts(evidence.restarts)}`;
    case 'failed':
      return 'the pod has failed';
    case 'unschedulable':
      return `no node takes the pod: ${withoutFullStop(evidence.message)}`;
    case 'idle':
      return 'mysqld has not been running';
    case 'notReady':
      return `container ${evidence.container} is not ready`;
    case 'crashLooping':
      return `container ${evidence.container} has not been ready since it restarted${restarts(evidence.restarts)}`;
    case 'errant':
      return 'MOCO lists it as errant';
  }
}

/** Sentences of others end as they like. */
function withoutFullStop(sentence: string): string {
  return sentence.replace(/[.\s]+$/, '');
}

function restarts(count: number): string {
  return count === 0 ? '' : `, ${count} ${count === 1 ? 'restart' : 'restarts'}`;
}

function stalledSlots(stalled: number): string {
  if (stalled === 0) return '';
  return stalled === 1
    ? '; a stalled rollout holds one of the slots'
    : `; stalled rollouts hold ${stalled} of the slots`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function explainWait(wait: Exclude<Wait, { for: 'revision' }>): string {
  switch (wait.for) {
    case 'state':
      return `does not participate${wait.evidence ? `: ${explainEvidence(wait.evidence)}` : ` (${wait.state})`}`;
    case 'role':
      return 'MOCO has not set its role yet';
    case 'minReadySeconds':
      return `has not participated for ${wait.minReadySeconds} s yet`;
  }
}

/** What the step does, in a sentence for events and logs. */
export function explainStep(step: Step): string {
  switch (step.kind) {
    case 'none':
      return 'nothing to do';
    case 'delete':
      return `deleting ${step.targets.map((target) => target.name).join(', ')}: ${deletionReason(step.rule)}`;
    case 'evict':
      return `evicting ${step.targets[0].name}`;
    case 'demote':
      return `asking MOCO to move the primary away from ${step.targets[0].name}`;
    case 'undemote':
      return step.demoted
        ? `taking the demotion of ${step.targets[0].name} back: ${takeBackReason(step.reason)}`
        : `removing the mark of a finished demotion from ${step.targets[0].name}`;
    case 'handBack':
      return 'giving the StatefulSet back to rolling updates by partition';
    case 'setStrategy':
      return 'setting the update strategy of the StatefulSet to OnDelete';
    case 'setPartition':
      return `lowering the partition of the StatefulSet to ${step.partition}${step.targets[0] ? `, which takes ${step.targets[0].name}` : ''}`;
    case 'promoteRevision':
      return `setting the current revision of the StatefulSet to ${step.revision}`;
  }
}

function deletionReason(rule: Extract<Step, { kind: 'delete' }>['rule']): string {
  switch (rule) {
    case 'MemberDown':
      return 'stale and down';
    case 'MemberUnreachable':
      return 'stale, and its node does not answer';
    case 'MemberNotParticipating':
      return 'stale, running and not participating';
    case 'PrimaryNotParticipating':
      return 'stale, primary, and not participating for longer than a failover takes';
    case 'NobodyParticipates':
      return 'stale, and no member participates';
    case 'MemberImpaired':
      return 'stale, and one of its sidecars does not work';
    case 'ReplicaHealthy':
    case 'PrimaryLast':
    case 'SingleMember':
    case 'AlreadyUpdated':
      return 'stale';
  }
}

function takeBackReason(reason: TakeBackReason): string {
  switch (reason) {
    case 'NoLongerPrimary':
      return 'it is no longer primary';
    case 'NotDue':
      return 'it is not due for that revision';
    case 'OthersDue':
      return 'another member is due before it';
    case 'TimedOut':
      return 'no switchover came within its time';
    case 'MarkAlone':
      return 'the annotation itself is gone';
    case 'StrategyChanged':
      return 'the update strategy is another one now';
    default:
      return `rule ${reason} holds`;
  }
}

/** The state of the whole in one word: a column for people, not an interface for programs. */
export type Phase =
  | 'UpToDate'
  | 'Progressing'
  | 'Waiting'
  | 'Paused'
  | 'AwaitingApproval'
  | 'PartitionReached'
  | 'Failing'
  | 'Off';

export function phase(decision: Decision): Phase {
  switch (decision.hold?.rule) {
    case 'HandedBack':
    case 'ForcedRollingUpdate':
      return 'Off';
    case 'Paused':
      return 'Paused';
    case 'AwaitingApproval':
      return 'AwaitingApproval';
    case 'PartitionReached':
      return 'PartitionReached';
    case 'UpdateRevisionFailing':
    case 'SwitchoverFailing':
    case 'RevisionFlapping':
    case 'MemberDownOutOfTurn':
    case 'HandBackUnsafe':
    case 'StepRefused':
      return 'Failing';
    case undefined:
      return decision.stale > 0 ? 'Progressing' : 'UpToDate';
    default:
      return decision.stale > 0 ? 'Progressing' : 'Waiting';
  }
}
