/** Why a member is taken, or a partition lowered: the label of a step in Events and metrics, and why, in the sentence for a deletion. */
export const stepRules = {
  MemberDown: 'stale and down',
  MemberUnreachable: 'stale, and its node does not answer',
  MemberNotParticipating: 'stale, running and not participating',
  PrimaryNotParticipating: 'stale, primary, and not participating for longer than a failover takes',
  MemberImpaired: 'stale, and one of its sidecars does not work',
  ReplicaHealthy: null,
  NothingRestarts: null,
  ContainersRestart: null,
  ResizeRestartsNothing: null,
  ResizeRestartsContainers: null,
  PrimaryLast: null,
  SingleMember: null,
  AlreadyUpdated: null,
} as const;

/** Why a member gets back the revision that it had: the label of the step `restore`, and why, in the sentence for it. */
export const restoreRules = {
  UpdatedByOthers: 'somebody else has taken its pod, and its mysqld has not started at the update revision',
  RestoreRequested: 'a person has asked for that',
} as const;

export type RestoreRule = keyof typeof restoreRules;

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
