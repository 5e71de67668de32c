import type { ContainerResources, InPlaceChange } from './in-place-changes.ts';

// The steps that a decision can return, and their names and reasons.

/** A pod that a step acts on, with the values that the preconditions of the step need. */
export interface Target {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type Step =
  | { readonly kind: 'none' }
  | { readonly kind: 'delete'; readonly rule: StepRule; readonly targets: readonly Target[] }
  | { readonly kind: 'evict'; readonly rule: StepRule; readonly targets: readonly [Target] }
  /** Changes the running pod into what the update revision would have created. */
  | {
      readonly kind: 'updateInPlace';
      readonly rule: 'NothingRestarts' | 'ContainersRestart';
      readonly targets: readonly [Target];
      readonly revision: string;
      readonly change: InPlaceChange;
    }
  /** Resizes containers of the running pod. Its update follows. */
  | {
      readonly kind: 'resizeInPlace';
      readonly rule: 'ResizeRestartsNothing' | 'ResizeRestartsContainers';
      readonly targets: readonly [Target];
      readonly revision: string;
      readonly resources: readonly ContainerResources[];
    }
  | {
      readonly kind: 'demote';
      readonly rule: 'PrimaryLast';
      readonly targets: readonly [Target];
      readonly revision: string;
    }
  | {
      readonly kind: 'undemote';
      readonly targets: readonly [Target];
      /** One of `undemoteReasons`, or the name of a rule that holds. */
      readonly reason: string;
      /** The annotation `demote` is still there. Otherwise only our mark is left. */
      readonly demoted: boolean;
    }
  /** Adopts the StatefulSet, or lets pods start at the update revision again. */
  | { readonly kind: 'setStrategy'; readonly newPods: 'UpdateRevision' }
  /** Makes pods that somebody else deletes come back at the current revision. */
  | {
      readonly kind: 'setStrategy';
      readonly newPods: 'CurrentRevision';
      /** Until the rollout continues, or only until the missing pods exist again. */
      readonly lasts: 'whileHeld' | 'untilCreated';
    }
  /** Deletes a pod so that its member comes back at its previous revision. */
  | { readonly kind: 'restore'; readonly rule: RestoreRule; readonly targets: readonly [Target] }
  /** Removes the label and restores rolling updates, with a partition above the last member. */
  | { readonly kind: 'release' }
  | {
      readonly kind: 'setPartition';
      readonly rule: StepRule;
      readonly partition: number;
      /** The member at that ordinal, if it is stale: the StatefulSet controller replaces it. */
      readonly targets: readonly Target[];
    }
  | {
      readonly kind: 'promoteRevision';
      readonly revision: string;
      readonly replicas: number;
      /**
       * Which step of the rollout writes it. `start`: members that are about to be deleted are recreated at it. `end`:
       * every member has it. `release`: the next owner of the StatefulSet has to find it. `correction`: a sync has
       * overwritten the one of a release. `keep`: a member that somebody else deletes is recreated at it.
       */
      readonly for: 'start' | 'end' | 'release' | 'correction' | 'keep';
      /** The members that are deleted next, so that they are recreated at it. */
      readonly before: readonly Target[];
    };

export type StepKind = Step['kind'];

/** A step that acts on pods. It is recorded before it is done, with the pods. */
export type DisruptiveStep = Extract<Step, { readonly targets: readonly Target[] }>;

/** A mark without its `demote` asks nothing of MOCO, so removing it needs only the preconditions. */
export const isDisruptive = (step: Step): step is DisruptiveStep =>
  'targets' in step && (step.kind !== 'undemote' || step.demoted);

/** The label of a step in events, metrics and the status. */
export function ruleOf(step: DisruptiveStep): string {
  return step.kind === 'undemote' ? step.reason : step.rule;
}

/** Identifies a step: what it does, to which pods, and for which update revision. */
export function stepIdentity(step: Step, updateRevision: string): string {
  const uids = 'targets' in step ? step.targets.map(({ uid }) => uid) : [];
  const partition = step.kind === 'setPartition' ? [step.partition] : [];
  return [step.kind, ...uids, ...partition, updateRevision].join(' ');
}

/**
 * Why a member is replaced, or a partition lowered: the label of a step in Events and metrics, and the reason in the
 * sentence for a deletion.
 */
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

/** Why a member gets its previous revision back: the label of step `restore`, and the reason in its sentence. */
export const restoreRules = {
  UpdatedByOthers: 'somebody else deleted its pod, and its mysqld has not started at the update revision',
  RestoreRequested: 'a person has requested it',
} as const;

export type RestoreRule = keyof typeof restoreRules;

export type StepRule = keyof typeof stepRules;

interface UndemoteReasonEntry {
  readonly when: string;
  /** The reason as it appears in the sentence for the step. */
  readonly because: string;
}

/** Why a demotion that this controller has set is taken back. The name of a hold can also be the reason. */
export const undemoteReasons = {
  MarkWithoutDemote: {
    when: 'the pod has the mark without `demote`, unless it is the only pod that is still due, for that revision: then the mark goes with the pod when it is evicted',
    because: 'the annotation itself is gone',
  },
  NoLongerPrimary: {
    when: 'the pod is not primary, and MOCO is not about to remove the annotation itself',
    because: 'it is no longer primary',
  },
  NotDue: {
    when: 'the pod is not due, or not for that revision',
    because: 'it is not due for that revision',
  },
  OthersDue: { when: 'another member is due', because: 'another member is due before it' },
  StrategyChanged: {
    when: "moco-rollout may no longer delete the cluster's pods",
    because: 'the update strategy has changed',
  },
  TimedOut: {
    when: 'the annotation has been there for `switchoverTimeoutSeconds`',
    because: 'the switchover timed out',
  },
} satisfies Readonly<Record<string, UndemoteReasonEntry>>;

export type UndemoteReason = keyof typeof undemoteReasons;
