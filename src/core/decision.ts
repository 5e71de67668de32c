import type { Effect } from './effects.ts';
import type { FailingMember } from './failing-revision.ts';
import type { Evidence, MemberState } from './member.ts';
import type { Question } from './questions.ts';
import type { Hold, HoldRule } from './rules/catalogue.ts';
import type { Recreated } from './sentences.ts';
import type { Situation } from './situation.ts';
import type { Step } from './step.ts';

// The result of a decision, and what a procedure is.

export type { Hold, HoldRule } from './rules/catalogue.ts';
export type { Step, StepKind, Target } from './step.ts';

/**
 * What happens to a member, in one word that people can filter by. The catalogue of rules contains neither verdicts nor
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
  /** How its pod came back, if somebody else deleted it in this rollout. */
  readonly recreated: Recreated | null;
  /** The hold that blocks the member, if any. */
  readonly rule: HoldRule | null;
}

export interface Decision {
  readonly step: Step;
  readonly effects: readonly Effect[];
  readonly hold: Hold | null;
  /**
   * Earlier holds (`memory.shown`, `memory.earlier`) that still hold the same step but come after `hold` in the
   * catalogue.
   */
  readonly beneath: readonly Hold[];
  /** By ordinal, including the missing ones. */
  readonly members: readonly MemberReport[];
  /** Members whose revision is not the StatefulSet's update revision, including terminating ones. */
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
  /** The rollout has not progressed for progressDeadlineSeconds, and no user requested the wait. */
  readonly progressDeadlineExceeded: boolean;
  /** Members are away, each because of its node: no evidence against the revision. */
  readonly awaitsNodes: boolean;
  /**
   * What the decision depends on and does not know, or has not read recently enough. At most one question of each kind.
   */
  readonly asks: readonly Question[];
  /** What is asked again right before the step is written. */
  readonly asksAgain: readonly Question[];
  /** The checks that watch the cluster do not fail, as far as is known. True if no checks watch it. */
  readonly checksPass: boolean;
  /** Seconds until time alone could change this decision; `null` when only an event can. */
  readonly requeueAfterSeconds: number | null;
}

export interface NextStep {
  readonly candidate: Step;
  readonly hold: Hold | null;
}

/** A line of a procedure: which member is next, and how it is replaced. It checks no gate. */
export interface ProcedureLine {
  /** The members that the line covers, for SPEC.md. */
  readonly takes: string;
  /** Steps in the order of preference. The first one that no gate holds is done. */
  readonly candidates: (situation: Situation) => readonly Step[];
  /**
   * If all of its candidates are held and none waits to retry a write, the next line is tried. Otherwise the first
   * candidate's hold ends the procedure.
   */
  readonly yields?: true;
}

/** Lines by name, in order. */
export type Procedure = Readonly<Record<string, ProcedureLine>>;
