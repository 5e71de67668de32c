import { mayClone } from './clone.ts';
import { type DueRecord, unsureData } from './data.ts';
import { type EffectKind, isConfirmed, membersOf } from './effects.ts';
import { reliedOn, type Situation } from './situation.ts';
import type { Step } from './step.ts';

// The questions that the core may ask. Some of them are asked again right before a write.

/**
 * What the core has to know but no watch delivers. Only the core asks. A rule names its question in `asks` when its
 * fact is missing or too old, and the controller has a row for each kind of question
 * (`controller/questions/questions.ts`).
 */
export type Question =
  /** How each stale member can reach the update revision without getting another pod. */
  | { readonly kind: 'inPlace' }
  /** How far the replicas are behind, according to their agents. */
  | { readonly kind: 'delays' }
  /** Whether these members answer, by ordinal. A step relies on them. */
  | { readonly kind: 'members'; readonly members: readonly number[] }
  /** Whether these replicas are cloning, by ordinal, according to their agents. */
  | { readonly kind: 'clones'; readonly members: readonly number[] }
  /** What MySQL itself reports, before a member stops or before a switchover. */
  | { readonly kind: 'mysql'; readonly for: 'stop' | 'switchover' }
  /** Details that are only shown to users. No step waits for them. */
  | { readonly kind: 'details'; readonly createFailure: boolean; readonly contention: boolean }
  /**
   * Whether nodes can run the update revision. If `begins` is false, no new node is asked, and only the existing pods
   * are followed.
   */
  | { readonly kind: 'preflight'; readonly begins: boolean }
  /** Whether these members can be recreated, by ordinal. */
  | { readonly kind: 'recreatable'; readonly members: readonly number[] }
  /** Whether the nodes of these members are being taken out of service, by ordinal. */
  | { readonly kind: 'nodes'; readonly members: readonly number[] }
  /** Whether moco-controller renews its Lease. */
  | { readonly kind: 'moco' }
  /**
   * Which mysqld has started on the data of these members, according to their claims, and what has to be recorded
   * there.
   */
  | { readonly kind: 'data'; readonly members: readonly number[]; readonly notes: readonly DueRecord[] }
  /** The checks of the user. */
  | { readonly kind: 'checks' }
  /** The policies that decide the settings of the cluster. */
  | { readonly kind: 'policies' };

export type QuestionKind = Question['kind'];
export type QuestionOf<Kind extends QuestionKind> = Extract<Question, { readonly kind: Kind }>;

interface Asked<One extends Question> {
  /** Merges two questions of this kind into one. */
  readonly together: (one: One, other: One) => One;
  /** The question is asked only once nothing else blocks the step. All such questions are asked at once. */
  readonly last?: true;
  /** The steps before which the question is asked again. `null` if it is never asked again. */
  readonly again: {
    readonly before: readonly EffectKind[] | 'every confirmed step';
    /** `null` if the step leaves nothing to ask. */
    readonly question: (step: Step, effects: ReadonlySet<EffectKind>, situation: Situation) => One | null;
  } | null;
}

const same = <One>(one: One): One => one;

/** The questions by kind, in the order in which SPEC.md lists them. */
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
      // If a fact was never read, it stays unknown here, and no step that needs the fact is allowed.
      question: (step, _, situation) => {
        const known = membersOf(situation, step).filter(({ facts }) => facts.recreatable.kind === 'asked');
        return known.length === 0 ? null : { kind: 'recreatable', members: known.map(({ ordinal }) => ordinal) };
      },
    },
  },
  nodes: {
    together: (one, other) => ({ kind: 'nodes', members: [...new Set([...one.members, ...other.members])] }),
    again: {
      before: 'every confirmed step',
      question: (_, __, { policy, members }) =>
        policy.nodeMaintenance === 'Ignore' && policy.rolloutsDuringMaintenance === 'Proceed'
          ? null
          : { kind: 'nodes', members: members.map(({ ordinal }) => ordinal) },
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
      // If the data of a member are unknown, new pods no longer start at the previous revision, and a release promotes
      // the update revision. A new claim may show the data.
      before: ['restores', 'updatesNew', 'handsOver'],
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

/** The questions that are asked again right before this step is written. */
export function askedAgain(step: Step, kinds: readonly EffectKind[], situation: Situation): readonly Question[] {
  if (!isConfirmed(kinds)) return [];
  const effects = new Set(kinds);
  return Object.values(asked).flatMap(({ again }): readonly Question[] => {
    if (again === null || (Array.isArray(again.before) && !again.before.some((kind) => effects.has(kind)))) return [];
    const question = again.question(step, effects, situation);
    return question === null ? [] : [question];
  });
}
