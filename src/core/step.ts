import type { ContainerResources, InPlaceChange } from './in-place.ts';
import type { RestoreRule, StepRule } from './rules/steps.ts';

/** A pod that a step acts on, with what the preconditions of the step need. */
export interface Target {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What one pass does to a cluster. */
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
      /** The annotation `demote` is still there. Otherwise only our mark is. */
      readonly demoted: boolean;
    }
  /** Adopts the StatefulSet, or lets pods come up at the update revision again. */
  | { readonly kind: 'setStrategy'; readonly newPods: 'UpdateRevision' }
  /** Lets pods that somebody else takes come up at the current revision. */
  | {
      readonly kind: 'setStrategy';
      readonly newPods: 'CurrentRevision';
      /** Until the rollout goes on, or only until the lost pods exist again. */
      readonly lasts: 'whileHeld' | 'untilCreated';
    }
  /** Deletes a pod that is to come back at the revision that its member had. */
  | { readonly kind: 'restore'; readonly rule: RestoreRule; readonly targets: readonly [Target] }
  /** Removes the label and restores rolling updates, with a partition above the last member. */
  | { readonly kind: 'release' }
  | {
      readonly kind: 'setPartition';
      readonly rule: StepRule;
      readonly partition: number;
      /** The member at that ordinal if it is stale: the StatefulSet controller replaces it. */
      readonly targets: readonly Target[];
    }
  | {
      readonly kind: 'promoteRevision';
      readonly revision: string;
      readonly replicas: number;
      /**
       * `start`: members that are about to be deleted come up at it. `end`: every member has it. `release`: the next owner
       * of the StatefulSet is to find it. `correction`: a sync has overwritten that of a release.
       * `keep`: a member that somebody else takes comes back at it.
       */
      readonly for: 'start' | 'end' | 'release' | 'correction' | 'keep';
      /** The members that are deleted next, so that they come up at it. */
      readonly before: readonly Target[];
    };

export type StepKind = Step['kind'];

/** Steps that take a member or block writes. Each is confirmed and recorded before it is done. */
export const disruptive: Readonly<Record<StepKind, boolean>> = {
  none: false,
  delete: true,
  evict: true,
  updateInPlace: true,
  resizeInPlace: true,
  demote: true,
  undemote: true,
  setStrategy: false,
  restore: true,
  release: false,
  setPartition: true,
  promoteRevision: false,
};

/** A step that is confirmed and recorded before it is done. */
export type DisruptiveStep = Extract<Step, { readonly targets: readonly Target[] }>;

/** A mark without its `demote` asks MOCO for nothing, so removing it needs only the preconditions. */
export function isDisruptive(step: Step): step is DisruptiveStep {
  return disruptive[step.kind] && !(step.kind === 'undemote' && !step.demoted);
}

/** The label of a step in events, metrics and the status. */
export function ruleOf(step: DisruptiveStep): string {
  return step.kind === 'undemote' ? step.reason : step.rule;
}

/** Identifies a step: what it does, to which pods, for which update revision. */
export function stepIdentity(step: Step, updateRevision: string): string {
  const uids = 'targets' in step ? step.targets.map(({ uid }) => uid) : [];
  const partition = step.kind === 'setPartition' ? [step.partition] : [];
  return [step.kind, ...uids, ...partition, updateRevision].join(' ');
}
