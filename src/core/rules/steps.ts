/** Why a member is taken, or a partition lowered: the label of a step in Events and metrics. */
interface StepRuleEntry {
  readonly step: 'delete' | 'evict' | 'updateInPlace' | 'resizeInPlace' | 'demote' | 'setPartition';
  /** Which members it takes, for SPEC.md. */
  readonly takes: string;
  /** Why, in the sentence for a deletion. */
  readonly because?: string;
}

const stepRuleEntry = (entry: StepRuleEntry): StepRuleEntry => entry;

export const stepRules = {
  MemberDown: stepRuleEntry({
    step: 'delete',
    takes: 'every due member that is down, while no other pod is missing',
    because: 'stale and down',
  }),
  MemberUnreachable: stepRuleEntry({
    step: 'delete',
    takes: 'one due replica whose node does not answer, while every other member participates',
    because: 'stale, and its node does not answer',
  }),
  MemberNotParticipating: stepRuleEntry({
    step: 'delete',
    takes:
      "one due replica that runs without participating. Replicas without a role label go first. The replica can't acknowledge commits, or a majority acknowledges without it, the primary among them. That majority is not required of a replica without a role label that has not participated for `failoverGraceSeconds`, nor once the grace for a failover is over and the primary can't acknowledge or has no role label",
    because: 'stale, running and not participating',
  }),
  PrimaryNotParticipating: stepRuleEntry({
    step: 'delete',
    takes:
      'the due primary that runs without participating, once the grace for a failover is over and a majority of others participates, or nobody; a single member once its grace is over',
    because: 'stale, primary, and not participating for longer than a failover takes',
  }),
  MemberImpaired: stepRuleEntry({
    step: 'delete',
    takes: 'one due member that is impaired',
    because: 'stale, and one of its sidecars does not work',
  }),
  ReplicaHealthy: stepRuleEntry({
    step: 'evict',
    takes: 'one due replica that participates and is not impaired',
  }),
  NothingRestarts: stepRuleEntry({
    step: 'updateInPlace',
    takes:
      'no member: the update revision differs from that of a participating member by nothing, or by labels and annotations that may change in a running pod',
  }),
  ContainersRestart: stepRuleEntry({
    step: 'updateInPlace',
    takes:
      'one due member that participates, is not impaired, and whose update restarts only containers that the user allows. The primary goes last, and only if it may be updated without a switchover',
  }),
  ResizeRestartsNothing: stepRuleEntry({
    step: 'resizeInPlace',
    takes:
      'no member: containers of a participating member get the resources of the update revision while they run. One member at a time, replicas first',
  }),
  ResizeRestartsContainers: stepRuleEntry({
    step: 'resizeInPlace',
    takes:
      'one due member that participates, is not impaired, and of which the `resizePolicy` restarts only containers that the user allows. The primary goes last, and only if it may be updated without a switchover',
  }),
  PrimaryLast: stepRuleEntry({ step: 'demote', takes: 'the due primary when nothing else is due' }),
  SingleMember: stepRuleEntry({ step: 'evict', takes: 'the only member' }),
  AlreadyUpdated: stepRuleEntry({
    step: 'setPartition',
    takes: 'no member: the member below the partition is updated',
  }),
};

export type StepRule = keyof typeof stepRules;

interface UndemoteReasonEntry {
  /** When it applies, for SPEC.md. */
  readonly when: string;
  /** As the sentence for the step has it. */
  readonly because: string;
}

const undemoteReason = (entry: UndemoteReasonEntry): UndemoteReasonEntry => entry;

/** Why a demotion that this controller has set is taken back. A hold is a reason as well, by its name. */
export const undemoteReasons = {
  MarkWithoutDemote: undemoteReason({
    when: 'the pod has the mark without `demote`, unless it is the only pod that is still due, for that revision: then the mark goes with the pod when it is evicted',
    because: 'the annotation itself is gone',
  }),
  NoLongerPrimary: undemoteReason({
    when: 'the pod is not primary, and MOCO is not about to remove the annotation itself',
    because: 'it is no longer primary',
  }),
  NotDue: undemoteReason({
    when: 'the pod is not due, or not for that revision',
    because: 'it is not due for that revision',
  }),
  OthersDue: undemoteReason({ when: 'another member is due', because: 'another member is due before it' }),
  StrategyChanged: undemoteReason({
    when: "moco-rollout may no longer delete the cluster's pods",
    because: 'the update strategy has changed',
  }),
  TimedOut: undemoteReason({
    when: 'the annotation has been there for `switchoverTimeoutSeconds`',
    because: 'the switchover timed out',
  }),
};

export type UndemoteReason = keyof typeof undemoteReasons;
