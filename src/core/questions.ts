import { type EffectKind, membersOf } from './effects.ts';
import { mayClone } from './running-members.ts';
import { reliedOn, type Situation } from './situation.ts';
import { isDisruptive, type Step } from './step.ts';

/**
 * What the core has to know and no watch delivers. Only the core asks: a rule says so where its fact is missing or too
 * old (`asks` of its entry), and the controller has a row for each kind (`controller/questions/questions.ts`).
 */
export type Question =
  /** How each stale member can reach the update revision without another pod. */
  | { readonly kind: 'inPlace' }
  /** How far the replicas are behind, from their agents. */
  | { readonly kind: 'delays' }
  /** Whether these members answer, by ordinal: those that a step relies on. */
  | { readonly kind: 'members'; readonly members: readonly number[] }
  /** Whether these replicas clone, by ordinal, from their agents. */
  | { readonly kind: 'clones'; readonly members: readonly number[] }
  /** What MySQL itself says, before a member stops or before a switchover. */
  | { readonly kind: 'mysql'; readonly for: 'stop' | 'switchover' }
  /** What only users see. No step waits for it. */
  | { readonly kind: 'details'; readonly createFailure: boolean; readonly contention: boolean }
  /** Whether nodes can run the update revision. `begins`: nodes are asked; otherwise only their pods are followed. */
  | { readonly kind: 'preflight'; readonly begins: boolean }
  /** Whether these members can be recreated, by ordinal. */
  | { readonly kind: 'recreatable'; readonly members: readonly number[] }
  /** The checks of the user. */
  | { readonly kind: 'checks' }
  /** The policies that decide a setting. */
  | { readonly kind: 'policies' };

export type QuestionKind = Question['kind'];
export type QuestionOf<Kind extends QuestionKind> = Extract<Question, { readonly kind: Kind }>;

interface Asked<One extends Question> {
  /** One question instead of two of its kind. */
  readonly together: (one: One, other: One) => One;
  /** What is asked again right before the write of this step, or `null`. */
  readonly again: (step: Step, effects: ReadonlySet<EffectKind>, situation: Situation) => One | null;
}

const never = () => null;
const same = <One>(one: One): One => one;

const asked: { readonly [Kind in QuestionKind]: Asked<QuestionOf<Kind>> } = {
  inPlace: { together: same, again: never },
  delays: {
    together: same,
    again: (_, effects) => (effects.has('movesPrimary') ? { kind: 'delays' } : null),
  },
  clones: {
    together: (one, other) => ({ kind: 'clones', members: [...new Set([...one.members, ...other.members])] }),
    again: (step, effects, situation) => {
      if (!effects.has('stops')) return null;
      const ordinals = membersOf(situation, step)
        .filter(mayClone)
        .map(({ ordinal }) => ordinal);
      return ordinals.length === 0 ? null : { kind: 'clones', members: ordinals };
    },
  },
  members: {
    together: (one, other) => ({ kind: 'members', members: [...new Set([...one.members, ...other.members])] }),
    again: (step, effects, situation) => {
      if (!effects.has('stops') && !effects.has('movesPrimary')) return null;
      const ordinals = reliedOn(situation, membersOf(situation, step)).map(({ ordinal }) => ordinal);
      return ordinals.length === 0 ? null : { kind: 'members', members: ordinals };
    },
  },
  mysql: {
    together: (one, other) => (one.for === 'switchover' ? one : other),
    again: (_, effects, { snapshot }) => {
      if (snapshot.mysql === null) return null;
      if (effects.has('movesPrimary')) return { kind: 'mysql', for: 'switchover' };
      return effects.has('stops') ? { kind: 'mysql', for: 'stop' } : null;
    },
  },
  details: {
    together: (one, other) => ({
      kind: 'details',
      createFailure: one.createFailure || other.createFailure,
      contention: one.contention || other.contention,
    }),
    again: never,
  },
  preflight: {
    together: (one, other) => ({ kind: 'preflight', begins: one.begins || other.begins }),
    again: never,
  },
  recreatable: {
    together: (one, other) => ({ kind: 'recreatable', members: [...new Set([...one.members, ...other.members])] }),
    // What was never read stays unknown, and allows no step that needs it.
    again: (step, _, { members }) => {
      if (!isDisruptive(step)) return null;
      const targets = step.targets.map(({ ordinal }) => ordinal);
      const known = members.filter(({ ordinal, facts }) => targets.includes(ordinal) && facts.recreatable !== null);
      return { kind: 'recreatable', members: known.map(({ ordinal }) => ordinal) };
    },
  },
  checks: { together: same, again: never },
  policies: { together: same, again: (step) => (isDisruptive(step) ? { kind: 'policies' } : null) },
};

/** At most one question of each kind. */
export function together(questions: readonly Question[]): readonly Question[] {
  const byKind = new Map<QuestionKind, Question>();
  for (const question of questions) {
    const before = byKind.get(question.kind);
    const { together: combine } = asked[question.kind] as Asked<Question>;
    byKind.set(question.kind, before === undefined ? question : combine(before, question));
  }
  return [...byKind.values()];
}

/** What is asked again right before the write of this step. */
export const askedAgain = (step: Step, effects: readonly EffectKind[], situation: Situation): readonly Question[] =>
  Object.values(asked).flatMap(({ again }) => again(step, new Set(effects), situation) ?? []);
