import type { Effect } from './effects.ts';
import type { FailingMember } from './failing-revision.ts';
import type { Evidence, MemberState } from './member.ts';
import type { Question } from './questions.ts';
import type { Hold, HoldRule } from './rules/catalogue.ts';
import type { Recreated } from './sentences.ts';
import type { Situation } from './situation.ts';
import type { Step } from './step.ts';

// The result of a decision, and the lines of a procedure.

export type { Hold, HoldRule } from './rules/catalogue.ts';
export type { Step, StepKind, Target } from './step.ts';

/**
 * What happens to a member, as a single term that people can filter by. Verdicts and states of members are not in the
 * catalogue of rules: they only describe a member, whereas every rule names a wait that can end.
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
  /** How the member's pod was recreated, if another program or a person deleted the pod during this rollout. */
  readonly recreated: Recreated | null;
  /** The hold that blocks the member, if any. */
  readonly rule: HoldRule | null;
}

export interface Decision {
  readonly step: Step;
  readonly effects: readonly Effect[];
  readonly hold: Hold | null;
  /**
   * Earlier holds (`memory.shown`, `memory.earlier`) that still block the same step but come after `hold` in the
   * catalogue.
   */
  readonly beneath: readonly Hold[];
  /** All members by ordinal, including missing ones. */
  readonly members: readonly MemberReport[];
  /** How many members do not have the StatefulSet's update revision, including terminating ones. */
  readonly stale: number;
  /** An updated member has verified the update revision by participating for minReadySeconds. */
  readonly verified: boolean;
  /** The member that fails at the update revision, if none has verified it. */
  readonly failing: FailingMember | null;
  /**
   * No member is stale, every member has participated for minReadySeconds and is not impaired, and MOCO has applied the
   * current generation.
   */
  readonly complete: boolean;
  /** The rollout has made no progress for progressDeadlineSeconds, and no user has requested the wait. */
  readonly progressDeadlineExceeded: boolean;
  /** Members are away, and each of them is away because of its node. That is no evidence against the revision. */
  readonly awaitsNodes: boolean;
  /**
   * The questions on which the decision depends, and which have no answer or no recent one. At most one question of
   * each kind.
   */
  readonly asks: readonly Question[];
  /** The questions that are asked again right before the step is written. */
  readonly asksAgain: readonly Question[];
  /** No check that watches the cluster is known to fail. Also true if no check watches the cluster. */
  readonly checksPass: boolean;
  /** Seconds after which this decision could change without any event; `null` if only an event can change it. */
  readonly requeueAfterSeconds: number | null;
}

export interface NextStep {
  readonly candidate: Step;
  readonly hold: Hold | null;
}

/** A line of a procedure says which member is next, and how it is replaced. Gates are checked elsewhere. */
export interface ProcedureLine {
  /** The members that the line covers, for SPEC.md. */
  readonly takes: string;
  /** Steps in order of preference. The first step that no gate holds is done. */
  readonly candidates: (situation: Situation) => readonly Step[];
  /**
   * If all candidates of this line are held and none waits to retry a write, the next line is tried. Otherwise the
   * first candidate's hold ends the procedure.
   */
  readonly yields?: true;
  /**
   * The line is outside the rollout. Its candidates are tried even while the rollout is held, and its hold is shown
   * only while the rollout has nothing to do.
   */
  readonly beside?: true;
}

/** The lines by name, in the order in which they are tried. */
export type Procedure = Readonly<Record<string, ProcedureLine>>;
