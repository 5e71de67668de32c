import type { Effect, EffectKind } from '../effects.ts';
import type { Question, QuestionKind } from '../questions.ts';
import type { Member, Situation } from '../situation.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import type { Step } from '../step.ts';

// The definition of a rule: when it holds, what it says, and who can end it.

/** The name of a member in a sentence, such as `moco-test-2`. */
export type MemberName = (ordinal: number) => string;

type EndedBy = 'a person' | 'MOCO' | 'Kubernetes' | 'moco-rollout' | 'the members' | 'time';

/** The phase that a rule gives to its cluster. If the rule gives none, the phase follows from the members. */
export type RulePhase = 'Off' | 'Paused' | 'AwaitingApproval' | 'PartitionReached' | 'Failing';

/** The input of a rule: a step, and those of its effects that the rule can block. */
export interface Asked {
  readonly situation: Situation;
  readonly step: Step;
  readonly effects: readonly Effect[];
  /** The members on which the step has such an effect. Empty if the effect is on the cluster as a whole. */
  readonly members: readonly Member[];
}

/** Whether the step has one of these effects. Only effects for which the rule is a gate count. */
export const asksFor = ({ effects }: Asked, ...kinds: readonly EffectKind[]): boolean =>
  effects.some(({ kind }) => kinds.includes(kind));

/** What a plan assumes about the end of a wait: how long the wait lasts, and the facts after it. */
export interface AssumedEnd<Facts> {
  /**
   * How long the wait lasts: as long as the update of a member, as long as a switchover, until the next decision, or
   * until `opensAt`. A `moment` is too short to be printed.
   */
  readonly lasts: 'member' | 'switchover' | 'requeue' | 'opening' | 'moment';
  readonly facts: (snapshot: ClusterSnapshot, hold: Facts) => ClusterSnapshot | null;
}

/** The wait is over once the time `lasts` has passed, and `facts` returns the facts at that time. */
export const after = <Facts>(
  lasts: AssumedEnd<Facts>['lasts'],
  facts: AssumedEnd<Facts>['facts'],
): AssumedEnd<Facts> => ({ lasts, facts });

/** The wait is over when the opening that the hold names begins. */
export const untilOpening = after<{ readonly opensAt: string | null }>('opening', (snapshot, { opensAt }) =>
  opensAt === null ? null : snapshot,
);

export interface RuleAttributes {
  /** One sentence that says what is true while the rule holds. */
  readonly meaning: string;
  /** More about the rule, if `meaning` is not enough. */
  readonly details?: string;
  readonly endedBy: readonly EndedBy[];
  /** How the hold ends, and what to do if it does not. */
  readonly ends: string;
  /**
   * Whether a person may disable the rule for a while. Absent if the rule guards an invariant of SPEC.md, or if MOCO or
   * Kubernetes would refuse the step anyway.
   */
  readonly overridable?: true;
  /** The irreversible consequence of an override, as a sentence without a full stop. */
  readonly overriding?: string;
  /**
   * The setting, flag or annotation with which a user requests this wait. Such a wait is not a failure and not a lack
   * of progress.
   */
  readonly requestedBy?: string;
  /**
   * Every step includes this wait, even if all goes well. The Event of the step has already announced the wait, so the
   * wait gets its own Event only if it becomes long.
   */
  readonly routine?: true;
  /** The hold usually ends within moments, so people see it only if it lasts. */
  readonly brief?: true;
  readonly alarms?: true;
  /** The rule holds only until this question has an answer. */
  readonly awaits?: QuestionKind;
  /**
   * The cluster keeps its turn in the fleet while the rule holds, although its rollout has not begun. Otherwise the
   * nodes of the next cluster would also fetch images.
   */
  readonly keepsTurn?: true;
  /** The alert for this rule, if the rule has its own. */
  readonly alert?: string;
  readonly phase?: RulePhase;
}

/** An entry of the catalogue: everything about one rule, except the effects for which it is a gate. */
export interface Rule<Facts> extends RuleAttributes {
  readonly holds: (asked: Asked) => Facts | null;
  /** The questions that the hold asks, because facts are missing or too old. */
  readonly asks?: (hold: Facts, situation: Situation) => readonly Question[];
  /** What the rollout waits for, with names and numbers: one sentence without a full stop and without elapsed times. */
  readonly sentence: (hold: Facts, name: MemberName) => string;
  /** What a plan assumes about the end of the wait. `null` if only a person ends it: the plan stops there. */
  readonly assumed: AssumedEnd<Facts> | null;
}

/** Creates an entry of the catalogue. `Facts` is the type of the facts that come with the hold. */
export const rule = <Facts = object>(entry: Rule<Facts>): Rule<Facts> => entry;

/** The result for a rule that needs no facts. */
export const holdsIf = (holds: boolean): object | null => (holds ? {} : null);
