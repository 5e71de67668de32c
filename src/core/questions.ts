import { mayClone } from './clone.ts';
import { type DueRecord, unsureData } from './data.ts';
import { type EffectKind, isConfirmed, membersOf } from './effects.ts';
import { reliedOn, type Situation } from './situation.ts';
import type { Step } from './step.ts';

// The questions that the core may ask, and which are asked again before a write.

/**
 * What the core has to know but no watch delivers. Only the core asks: a rule names its question when its fact is
 * missing or too old (`asks` of its entry), and the controller has a row for each kind of question
 * (`controller/questions/questions.ts`).
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
  /** Details only for users. No step waits for them. */
  | { readonly kind: 'details'; readonly createFailure: boolean; readonly contention: boolean }
  /** Whether nodes can run the update revision. `begins`: nodes are asked; otherwise only their pods are followed. */
  | { readonly kind: 'preflight'; readonly begins: boolean }
  /** Whether these members can be recreated, by ordinal. */
  | { readonly kind: 'recreatable'; readonly members: readonly number[] }
  /** Whether moco-controller renews its Lease. */
  | { readonly kind: 'moco' }
  /**
   * Which mysqld has started on the data of these members, according to their claims, and what has to be noted there.
   */
  | { readonly kind: 'data'; readonly members: readonly number[]; readonly notes: readonly DueRecord[] }
  /** The checks of the user. */
  | { readonly kind: 'checks' }
  /** The policies that decide a setting. */
  | { readonly kind: 'policies' };

export type QuestionKind = Question['kind'];
export type QuestionOf<Kind extends QuestionKind> = Extract<Question, { readonly kind: Kind }>;

interface Asked<One extends Question> {
  /** One question instead of two of its kind. */
  readonly together: (one: One, other: One) => One;
  /** A step waits for it once nothing else is missing. All of these are asked at once. */
  readonly last?: true;
  /** Before which steps it is asked again. `null`: before none. */
  readonly again: {
    readonly before: readonly EffectKind[] | 'every confirmed step';
    /** `null` if there is nothing to ask. */
    readonly question: (step: Step, effects: ReadonlySet<EffectKind>, situation: Situation) => One | null;
  } | null;
}

const same = <One>(one: One): One => one;

/** By kind, in the order in which they are listed in SPEC.md. */
export const asked: { readonly [Kind in QuestionKind]: Asked<QuestionOf<Kind>> } = {
  inPlace: { together: same, again: null },
  delays: { together: same, again: { before: ['movesPrimary'], question: () => ({ kind: 'delays' }) } },
  clones: {
    together: (one, other) => ({ kind: 'clones', members: [...new Set([...one.members, ...other.members])] }),
    again: {
      before: ['stops'],
      question: (step, _, situation) => {
        const ordinals = membersOf(situation, step)
          .filter(mayClone)
          .map(({ ordinal }) => ordinal);
        return ordinals.length === 0 ? null : { kind: 'clones', members: ordinals };
      },
    },
  },
  members: {
    last: true,
    together: (one, other) => ({ kind: 'members', members: [...new Set([...one.members, ...other.members])] }),
    again: {
      before: ['stops', 'movesPrimary'],
      question: (step, _, situation) => {
        const ordinals = reliedOn(situation, membersOf(situation, step)).map(({ ordinal }) => ordinal);
        return ordinals.length === 0 ? null : { kind: 'members', members: ordinals };
      },
    },
  },
  mysql: {
    together: (one, other) => (one.for === 'switchover' ? one : other),
    again: {
      before: ['movesPrimary', 'stops'],
      question: (_, effects, { snapshot }) =>
        snapshot.mysql === null ? null : { kind: 'mysql', for: effects.has('movesPrimary') ? 'switchover' : 'stop' },
    },
  },
  details: {
    together: (one, other) => ({
      kind: 'details',
      createFailure: one.createFailure || other.createFailure,
      contention: one.contention || other.contention,
    }),
    again: null,
  },
  preflight: {
    together: (one, other) => ({ kind: 'preflight', begins: one.begins || other.begins }),
    again: null,
  },
  recreatable: {
    last: true,
    together: (one, other) => ({ kind: 'recreatable', members: [...new Set([...one.members, ...other.members])] }),
    again: {
      before: 'every confirmed step',
      // What was never read stays unknown, and a step that needs it is not allowed.
      question: (step, _, situation) => {
        const known = membersOf(situation, step).filter(({ facts }) => facts.recreatable.kind === 'asked');
        return known.length === 0 ? null : { kind: 'recreatable', members: known.map(({ ordinal }) => ordinal) };
      },
    },
  },
  moco: {
    last: true,
    together: same,
    again: { before: ['stops', 'movesPrimary'], question: () => ({ kind: 'moco' }) },
  },
  data: {
    together: (one, other) => ({
      kind: 'data',
      members: [...new Set([...one.members, ...other.members])],
      notes: [...one.notes, ...other.notes],
    }),
    again: {
      before: ['restores'],
      question: (_, __, situation) => {
        const members = unsureData(situation);
        return members.length === 0 ? null : { kind: 'data', members, notes: [] };
      },
    },
  },
  checks: { together: same, again: null },
  policies: { together: same, again: { before: 'every confirmed step', question: () => ({ kind: 'policies' }) } },
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

/** What is asked again right before this step is written. */
export function askedAgain(step: Step, kinds: readonly EffectKind[], situation: Situation): readonly Question[] {
  if (!isConfirmed(kinds)) return [];
  const effects = new Set(kinds);
  return Object.values(asked).flatMap(({ again }): readonly Question[] => {
    if (again === null || (Array.isArray(again.before) && !again.before.some((kind) => effects.has(kind)))) return [];
    const question = again.question(step, effects, situation);
    return question === null ? [] : [question];
  });
}
