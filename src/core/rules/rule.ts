import type { Effect, EffectKind } from '../effects.ts';
import type { Question, QuestionKind } from '../questions.ts';
import type { Member, Situation } from '../situation.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import type { Step } from '../step.ts';

// What a rule of the catalogue is: when it holds, what it says, and who ends it.

/** The name of a member in a sentence, such as `moco-test-2`. */
export type MemberName = (ordinal: number) => string;

type EndedBy = 'a person' | 'MOCO' | 'Kubernetes' | 'moco-rollout' | 'the members' | 'time';

/** The phase that a rule gives to its cluster. Without one the phase follows from the members. */
export type RulePhase = 'Off' | 'Paused' | 'AwaitingApproval' | 'PartitionReached' | 'Failing';

/** The input of a rule: a step, and those of its effects that the rule guards in the table of gates. */
export interface Asked {
  readonly situation: Situation;
  readonly step: Step;
  readonly effects: readonly Effect[];
  /** The members with such an effect. Empty if the effect is on the cluster as a whole. */
  readonly members: readonly Member[];
}

/** The step has an effect of this kind, which the rule guards in the table of gates. */
export const asksFor = ({ effects }: Asked, ...kinds: readonly EffectKind[]): boolean =>
  effects.some(({ kind }) => kinds.includes(kind));

/** How a plan assumes that a wait ends: how long it lasts, and the facts afterwards. `null` if these are unknown. */
export interface AssumedEnd<Facts> {
  /**
   * As long as a member or a switchover takes, until the next decision, or until `opensAt`; `moment` is too short to be
   * printed.
   */
  readonly lasts: 'member' | 'switchover' | 'requeue' | 'opening' | 'moment';
  readonly facts: (snapshot: ClusterSnapshot, hold: Facts) => ClusterSnapshot | null;
}

/** The wait is over after that time. */
export const after = <Facts>(
  lasts: AssumedEnd<Facts>['lasts'],
  facts: AssumedEnd<Facts>['facts'],
): AssumedEnd<Facts> => ({ lasts, facts });

/** The wait is over at the opening that the hold names, if there is one. */
export const untilOpening = after<{ readonly opensAt: string | null }>('opening', (snapshot, { opensAt }) =>
  opensAt === null ? null : snapshot,
);

export interface RuleAttributes {
  /** One sentence: what is true while the rule holds. */
  readonly meaning: string;
  /** More about it, if one sentence is not enough. */
  readonly details?: string;
  readonly endedBy: readonly EndedBy[];
  /** How the hold ends, and what to do if it does not. */
  readonly ends: string;
  /**
   * A person may switch the rule off for a while. Never set where the rule guards an invariant of SPEC.md, nor where
   * MOCO or Kubernetes would refuse what the rule prevents.
   */
  readonly overridable?: true;
  /** What happens when the rule is overridden and that cannot be undone: a sentence without a full stop. */
  readonly overriding?: string;
  /**
   * The setting, flag or annotation that requests this wait. Such a wait is neither a failure nor a lack of progress.
   */
  readonly requestedBy?: string;
  /** Every step waits for it even when all goes well. The Event of the step has announced it. */
  readonly routine?: true;
  /** It usually ends within moments, so people see it only if it lasts. */
  readonly brief?: true;
  readonly alarms?: true;
  /** It holds only until this question has an answer. */
  readonly awaits?: QuestionKind;
  /**
   * The cluster keeps its turn in the fleet while this holds, although its rollout has not begun: otherwise the next
   * cluster would have its nodes fetch images as well.
   */
  readonly keepsTurn?: true;
  /** The alert for this rule, if it has its own. */
  readonly alert?: string;
  readonly phase?: RulePhase;
}

/**
 * An entry of the catalogue: everything about one rule except the effects that it guards, which are in the table of
 * gates.
 */
export interface Rule<Facts> extends RuleAttributes {
  readonly holds: (asked: Asked) => Facts | null;
  /** The question behind the hold: facts that are missing or too old. */
  readonly asks?: (hold: Facts, situation: Situation) => readonly Question[];
  /** What the rollout waits for, with names and numbers: one sentence without a full stop and without elapsed times. */
  readonly sentence: (hold: Facts, name: MemberName) => string;
  /** `null` if only a person ends the wait: a plan ends there. */
  readonly assumed: AssumedEnd<Facts> | null;
}

/** An entry of the catalogue. The type argument has the facts that come with the hold. */
export const rule = <Facts = object>(entry: Rule<Facts>): Rule<Facts> => entry;

/** For a rule that needs no facts. */
export const holdsIf = (holds: boolean): object | null => (holds ? {} : null);
