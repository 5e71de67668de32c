import type { Disruption, Verb } from './disruption.ts';
import { participates } from './member.ts';
import type { Member, Moment } from './moment.ts';

/** A disrupted member, at one moment. */
export interface Case {
  /** Its time is that of its end, or of the deed. */
  readonly moment: Moment;
  readonly target: Member;
  readonly disruption: Disruption;
  /** When the confirmation began, since 1970. */
  readonly confirmedAtMilliseconds: number;
}

export interface Law {
  readonly name: string;
  /** What it means that the law was broken. */
  readonly sentence: string;
  readonly holds: (given: Case) => boolean;
  /** What it is asked of: what takes members, if absent. */
  readonly of?: readonly Verb[];
}

export const taking: readonly Verb[] = ['delete', 'evict', 'setPartition', 'restartInPlace'];
/** What takes a member, and what runs something of the update revision in a running one. */
export const takingOrResizing: readonly Verb[] = [...taking, 'resize'];
/** The pod goes, by whosever hand. */
export const takingPods: readonly Verb[] = ['delete', 'evict', 'setPartition'];

/** Whether a law is asked of a step. */
export const isAskedOf = ({ of = taking }: Law, { verb }: Disruption): boolean => of.includes(verb);

export const others = ({ moment, target }: Case): readonly Member[] =>
  moment.members.filter((member) => member !== target);
export const participating = (given: Case): readonly Member[] =>
  others(given).filter((member) => participates(given.moment, member));
