import type { ContainerResources, InPlaceChange } from './in-place-changes.ts';

// The steps that a decision can return, with their names and reasons.

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
  /** Resizes containers of the running pod. The update of the pod follows in another step. */
  | {
      readonly kind: 'resizeInPlace';
      readonly rule: 'ResizeRestartsNothing' | 'ResizeRestartsContainers';
      readonly targets: readonly [Target];
      readonly revision: string;
      readonly resources: readonly ContainerResources[];
    }
  | {
      readonly kind: 'demote';
      readonly rule: 'PrimaryLast' | 'NodeLeaving';
      readonly targets: readonly [Target];
      /** What the mark next to `demote` says: the update revision, or `markOfLeavingNode`. */
      readonly mark: string;
    }
  | {
      readonly kind: 'undemote';
      readonly targets: readonly [Target];
      /** One of `undemoteReasons`, or the name of a rule that holds the demotion. */
      readonly reason: string;
      /** The annotation `demote` is still on the pod. If false, only our mark is left. */
      readonly demoted: boolean;
    }
  /** Adopts the StatefulSet, or lets pods start at the update revision again. */
  | { readonly kind: 'setStrategy'; readonly newPods: 'UpdateRevision' }
  /** Makes pods come back at the current revision if another program or a person deletes them. */
  | {
      readonly kind: 'setStrategy';
      readonly newPods: 'CurrentRevision';
      /** Until when this applies: until the rollout continues, or only until the missing pods exist again. */
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
      /**
       * The stale member that the StatefulSet controller replaces because of this partition. Empty if there is none.
       */
      readonly targets: readonly Target[];
    }
  | {
      readonly kind: 'promoteRevision';
      readonly revision: string;
      readonly replicas: number;
      /**
       * Why this program writes the current revision. `start`: members that are about to be deleted come back at this
       * revision. `end`: every member has it. `release`: the next owner of the StatefulSet needs it. `correction`: a
       * sync has overwritten the revision that a release wrote. `keep`: a member comes back at this revision if another
       * program or a person deletes its pod.
       */
      readonly for: 'start' | 'end' | 'release' | 'correction' | 'keep';
      /** The members that are deleted next, so that they come back at the revision. */
      readonly before: readonly Target[];
    };

export type StepKind = Step['kind'];

/** A step that acts on pods. The step and its pods are recorded before the step is done. */
export type DisruptiveStep = Extract<Step, { readonly targets: readonly Target[] }>;

/** MOCO does not read our mark. So a step that removes a mark without `demote` only needs the preconditions. */
export const isDisruptive = (step: Step): step is DisruptiveStep =>
  'targets' in step && (step.kind !== 'undemote' || step.demoted);

/** The reason for a step, as Events, metrics and the status name it. */
export function ruleOf(step: DisruptiveStep): string {
  return step.kind === 'undemote' ? step.reason : step.rule;
}

const replacing: ReadonlySet<StepKind> = new Set(['delete', 'evict', 'restore', 'setPartition']);

/**
 * Whether a step of this kind and rule ends pods so that their members come back at another revision. A member that
 * leaves its node keeps its revision. A demotion only moves the primary, and a resized member stays stale.
 */
export const replacesForRevision = (kind: StepKind, rule: string): boolean =>
  replacing.has(kind) && rule !== ('NodeLeaving' satisfies StepRule);

/** Identifies a step: what it does, to which pods, and for which update revision. */
export function stepIdentity(step: Step, updateRevision: string): string {
  const uids = 'targets' in step ? step.targets.map(({ uid }) => uid) : [];
  const partition = step.kind === 'setPartition' ? [step.partition] : [];
  return [step.kind, ...uids, ...partition, updateRevision].join(' ');
}

/**
 * Why a member is replaced, or a partition is lowered. The key is the reason in Events and metrics. The text is part of
 * the sentence about a deletion.
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
  NodeLeaving: 'its node is being taken out of service',
  SingleMember: null,
  AlreadyUpdated: null,
} as const;

/**
 * The mark of a demotion that moves the primary off its node. It stands in the place of a revision, but cannot be the
 * name of one.
 */
export const markOfLeavingNode = 'node-leaving';

/**
 * Why a member gets its previous revision back. The key labels step `restore`, and the text is the reason in its
 * sentence.
 */
export const restoreRules = {
  UpdatedByOthers: 'another client deleted its pod, and its mysqld has not started at the update revision',
  RestoreRequested: 'a person has requested it',
} as const;

export type RestoreRule = keyof typeof restoreRules;

export type StepRule = keyof typeof stepRules;

interface UndemoteReasonEntry {
  readonly when: string;
  /** The reason as it appears in the sentence that describes the step. */
  readonly because: string;
}

/** Why this controller takes back its own demotion. The reason can also be the name of a hold. */
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
  NodeStays: {
    when: 'the demotion is to move the primary off its node, and the node is no longer being taken out of service, or `nodeMaintenance` is Ignore',
    because: 'its node is no longer being taken out of service',
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
