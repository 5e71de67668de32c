import type { ContainerResources, InPlaceChange } from './in-place.ts';
import type { Evidence, MemberState } from './member.ts';
import type { Hold, HoldRule } from './rules/catalogue.ts';
import type { StepRule, UndemoteReason } from './rules/steps.ts';

export type { Hold, HoldRule } from './rules/catalogue.ts';

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
      readonly reason: UndemoteReason;
      /** The annotation `demote` is still there. Otherwise only our mark is. */
      readonly demoted: boolean;
    }
  | { readonly kind: 'setStrategy' }
  /** Removes the label and restores rolling updates, with a partition above the last member. */
  | { readonly kind: 'release' }
  | {
      readonly kind: 'setPartition';
      readonly rule: StepRule;
      readonly partition: number;
      /** The member at that ordinal if it is stale: the StatefulSet controller replaces it. */
      readonly targets: readonly Target[];
    }
  | { readonly kind: 'promoteRevision'; readonly revision: string; readonly replicas: number };

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
  release: false,
  setPartition: true,
  promoteRevision: false,
};

/**
 * What happens to a member, in one word that people can filter by. The catalogue of rules has neither verdicts nor the
 * states of members: a rule is a reason that somebody can end, and these only describe.
 */
export type VerdictKind =
  | 'Updated'
  | 'Starting'
  | 'Next'
  | 'Waiting'
  | 'BelowPartition'
  | 'Pinned'
  | 'UpdatedOutOfBand'
  | 'Terminating'
  | 'Missing';

/** One member as the decision saw it. */
export interface MemberReport {
  readonly ordinal: number;
  /** `null` if there is no pod. */
  readonly name: string | null;
  readonly role: 'primary' | 'replica';
  readonly revision: string | null;
  readonly updated: boolean;
  readonly ready: boolean;
  readonly participating: boolean;
  readonly state: MemberState | 'missing';
  readonly evidence: Evidence | null;
  readonly verdict: VerdictKind;
  /** The hold that blocks the member, if any. */
  readonly rule: HoldRule | null;
}

export interface Decision {
  readonly step: Step;
  readonly hold: Hold | null;
  /** By ordinal, including the missing ones. */
  readonly members: readonly MemberReport[];
  /** Members whose revision is not the StatefulSet's update revision, including terminating ones. */
  readonly stale: number;
  /** An updated member has verified the update revision by participating for minReadySeconds. */
  readonly verified: boolean;
  /** A member fails at the update revision, and none has verified it. */
  readonly failing: boolean;
  /**
   * No member is stale, every member has participated for minReadySeconds and is not impaired, and MOCO has applied the
   * current generation.
   */
  readonly complete: boolean;
  /** The rollout has not moved for progressDeadlineSeconds, and nobody has requested that it waits. */
  readonly progressDeadlineExceeded: boolean;
  /** The checks have to be asked now: the decision depends on an answer that is missing or too old. */
  readonly asksChecks: boolean;
  /** Nothing is known against the checks that the cluster is watched by. True if it is not watched. */
  readonly checksPass: boolean;
  /** Seconds until time alone could change this decision; `null` when only an event can. */
  readonly requeueAfterSeconds: number | null;
}
