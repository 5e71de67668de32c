import type { Question, QuestionKind } from '../questions.ts';
import type { Situation } from '../situation.ts';
import { partition } from './by-partition.ts';
import { cloning } from './cloning.ts';
import { everything } from './everything.ts';
import { fleet, turn } from './fleet.ts';
import { mysqldVersions } from './mysqld-versions.ts';
import { leavingPrimary } from './node-maintenance.ts';
import { answers, step } from './not-done.ts';
import { notParticipating } from './not-participating.ts';
import { participating } from './participating.ts';
import { refusedOnNodes } from './preflight.ts';
import { primary } from './primary.ts';
import { recreatable } from './recreatable.ts';
import { roles } from './roles.ts';
import type { Asked, AssumedEnd, MemberName, Rule, RuleAttributes } from './rule.ts';
import { failing, unfinished } from './unfinished.ts';
import { untouchable } from './untouchable.ts';

// Every rule that can block a rollout, in the order in which the rules are evaluated. Types, sentences, `explain`,
// documents and the CRD's enum are derived from this list. A new rule needs an entry here and its place in the table of
// gates.

/** The groups of rules, in the order in which they are evaluated. The title says what a hold of the group blocks. */
export const ruleGroups = {
  untouchable: { title: 'Nothing is written at all', rules: untouchable },
  everything: { title: 'Every step is blocked, except taking back a demotion', rules: everything },
  failing: { title: 'The new revision fails: no other member gets it', rules: failing },
  unfinished: { title: 'Only members that are down are replaced', rules: unfinished },
  refused: { title: 'The new revision fails on some nodes: no working member is updated', rules: refusedOnNodes },
  versions: { title: 'MySQL would refuse the data: no member is updated', rules: mysqldVersions },
  fleet: { title: 'The rollout may not begin: only members that are down are replaced', rules: fleet },
  roles: { title: 'The primary is moving, or MOCO has not set every role', rules: roles },
  recreatable: { title: 'A replaced pod could not come back', rules: recreatable },
  notParticipating: { title: 'A member does not participate', rules: { ...cloning, ...notParticipating } },
  participating: {
    title: 'A member cannot be replaced yet',
    rules: { ...participating, ...leavingPrimary, ...primary },
  },
  partition: { title: 'The partition decides which member is next', rules: partition },
  step: { title: 'The next step cannot be done now', rules: step },
  turn: { title: 'The cluster waits for its turn: only members that are down are replaced', rules: turn },
  answers: { title: 'The step waits for an answer, or an answer blocks it', rules: answers },
};

export type RuleGroup = keyof typeof ruleGroups;

const catalogue = {
  ...untouchable,
  ...everything,
  ...failing,
  ...unfinished,
  ...refusedOnNodes,
  ...mysqldVersions,
  ...fleet,
  ...roles,
  ...recreatable,
  ...cloning,
  ...notParticipating,
  ...participating,
  ...leavingPrimary,
  ...primary,
  ...partition,
  ...step,
  ...turn,
  ...answers,
};

type Catalogue = typeof catalogue;
type FactsOf<Entry> = Entry extends Rule<infer Facts> ? Facts : never;

export type HoldRule = keyof Catalogue;
export type HoldOf<Name extends HoldRule> = {
  [Each in Name]: { readonly rule: Each } & FactsOf<Catalogue[Each]>;
}[Name];
/** The name of a rule that holds, together with the facts that show it. */
export type Hold = HoldOf<HoldRule>;

/** The rules by name, in the order of their groups. */
export const rules: Readonly<Record<HoldRule, RuleAttributes>> = catalogue;
export const holdRules = Object.keys(catalogue) as readonly HoldRule[];
/** The rules of a group, in order. */
export const rulesOf = (group: RuleGroup): readonly HoldRule[] =>
  Object.keys(ruleGroups[group].rules) as readonly HoldRule[];
export const overridableRules = holdRules.filter((name) => rules[name].overridable);

/** One sentence, without a full stop, that says with names and numbers what the rollout waits for. */
export function explainHold(hold: Hold, name: MemberName): string {
  const { sentence } = catalogue[hold.rule] as Rule<Hold>;
  return sentence(hold, name);
}

export function holdOf(rule: HoldRule, asked: Asked): Hold | null {
  const facts = (catalogue[rule] as Rule<object>).holds(asked);
  return facts === null ? null : ({ rule, ...facts } as Hold);
}

/** The questions that the hold waits for. */
export const asksOf = (hold: Hold | null, situation: Situation): readonly Question[] =>
  hold === null ? [] : ((catalogue[hold.rule] as Rule<Hold>).asks?.(hold, situation) ?? []);

/** What a plan assumes about the end of the hold; `null` if only a person ends it. */
export const assumedEnd = ({ rule }: Hold): AssumedEnd<Hold> | null => (catalogue[rule] as Rule<Hold>).assumed;

/**
 * The entry of a rule; `undefined` for a name that this version does not know, such as one in a status of a later
 * version.
 */
export const ruleAttributes = (name: string): RuleAttributes | undefined =>
  Object.hasOwn(rules, name) ? rules[name as HoldRule] : undefined;

/** The alert that fires while the hold lasts; `null` if no alert fires because a user requested the wait. */
export function alertOf(name: HoldRule): string | null {
  const { alert, alarms, requestedBy } = rules[name];
  if (alert !== undefined) return alert;
  if (alarms) return 'MocoRolloutStalled';
  return requestedBy === undefined ? 'MocoRolloutNoProgress' : null;
}

/** The rule is about other clusters. Nothing is wrong with this one. */
export const isForOthers = (name: string): boolean => Object.hasOwn(ruleGroups.fleet.rules, name) || isTurn(name);
/** The cluster waits for its turn, and is not known to wait for anything else. */
export const isTurn = (name: string): boolean => Object.hasOwn(turn, name);
/** The hold follows from the answer to a question that is asked only in the cluster's turn. */
export const isAnswer = (name: string): boolean => Object.hasOwn(answers, name);
export const isOverridable = (name: string): boolean => ruleAttributes(name)?.overridable === true;
export const isRequestedByUser = (name: string): boolean => ruleAttributes(name)?.requestedBy !== undefined;
/** The hold may last until a person acts. */
export const isEndedByPerson = (name: string): boolean => ruleAttributes(name)?.endedBy.includes('a person') === true;
export const isRoutine = (name: string): boolean => ruleAttributes(name)?.routine === true;
export const isBrief = (name: string): boolean => ruleAttributes(name)?.brief === true;
/** The question that the rule waits for, or `undefined`. */
export const awaitedBy = (name: string): QuestionKind | undefined => ruleAttributes(name)?.awaits;
/** The cluster keeps its turn in the fleet while the rule holds. */
export const keepsTurn = (name: string | undefined): boolean =>
  name !== undefined && ruleAttributes(name)?.keepsTurn === true;
export const isAlarming = (name: string): boolean => ruleAttributes(name)?.alarms === true;
