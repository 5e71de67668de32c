/** The name of a member in a sentence, such as `moco-test-2`. */
export type MemberName = (ordinal: number) => string;

export type EndedBy = 'a person' | 'MOCO' | 'Kubernetes' | 'moco-rollout' | 'the members' | 'time';

/** A phase that a rule gives to its cluster. Without one the phase follows from the members. */
export type RulePhase = 'Off' | 'Paused' | 'AwaitingApproval' | 'PartitionReached' | 'Failing';

/** What the catalogue says about a rule that blocks a rollout. */
export interface RuleAttributes {
  /** One sentence: what is the case while the rule holds. */
  readonly meaning: string;
  /** More about it, where one sentence is not enough. */
  readonly details?: string;
  readonly endedBy: readonly EndedBy[];
  /** How the hold ends, and what to do if it does not. */
  readonly ends: string;
  /**
   * A person may switch the rule off for a while. Never set where the rule guards an invariant of SPEC.md, nor where MOCO or
   * Kubernetes would refuse what the rule prevents.
   */
  readonly overridable?: true;
  /** The setting, flag or annotation by which a person requests this wait. Such a wait is neither a failure nor a lack of progress. */
  readonly requestedBy?: string;
  /** Every step waits for it, even when all goes well. The Event of the step has announced it. */
  readonly routine?: true;
  /** It usually ends by itself within moments, so people see it only once it has lasted. */
  readonly brief?: true;
  /** A person has to look at it. */
  readonly alarms?: true;
  /** The alert for this rule, where it has one of its own. */
  readonly alert?: string;
  /** It blocks the next step, and a switchover that is under way goes on. */
  readonly keepsDemotion?: true;
  readonly phase?: RulePhase;
}

export interface Rule<Arguments> extends RuleAttributes {
  /** What the rollout waits for, with names and numbers: one sentence without a full stop and without elapsed times. */
  readonly sentence: (hold: Arguments, name: MemberName) => string;
}

/** An entry of the catalogue. The type argument has the facts that come with the hold. */
export const rule = <Arguments = unknown>(entry: Rule<Arguments>): Rule<Arguments> => entry;
