import type { MemberStatus, RolloutStatus } from '../../api/rollout-status.ts';
import type { QuestionKind } from '../../core/questions.ts';
import { awaitedBy } from '../../core/rules/catalogue.ts';
import type { ClusterSnapshot, MemberFacts } from '../../core/snapshot.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { Fields, Given, Observed, Row } from './asking.ts';
import { checks } from './checks.ts';
import { clones } from './clones.ts';
import { data } from './data.ts';
import { delays } from './delays.ts';
import { details } from './details.ts';
import { inPlace } from './in-place.ts';
import { members } from './members.ts';
import { moco } from './moco.ts';
import { mysql } from './mysql.ts';
import { policies } from './policies.ts';
import { preflight } from './preflight.ts';
import { recreatable } from './recreatable.ts';

// The table of questions. A question is something that the core has to know and no watch delivers.
//
//     core:       rule holds --> asks --> Decision.asks
//                                              |
//     this table: row of its kind --> ask --> answer --+--> facts (snapshot)
//                                                      +--> status (what users see)
//                                                      +--> confirm (asked again before the write)

/**
 * THE TABLE: what each kind of question of the core asks, in the order in which a pass asks them. After each answer the
 * cluster is observed again, so a later question is asked only if the core still asks it.
 */
export const questions = {
  data,
  inPlace,
  delays,
  clones,
  mysql,
  details,
  preflight,
  recreatable,
  moco,
  members,
  checks,
  policies,
} satisfies { readonly [Kind in QuestionKind]: Row<Kind, unknown> };

type Questions = typeof questions;

/** What is known of the answers, by question. */
export type Answers = { readonly [Kind in QuestionKind]: Questions[Kind]['initial'] };

/** A row whose kind is not known to the compiler. Its question and answer must be of the same kind. */
export type AnyRow = Row<QuestionKind, unknown, Partial<ClusterSnapshot>, Partial<MemberFacts>>;

export const questionKinds = Object.keys(questions) as readonly QuestionKind[];

export const rowOf = (kind: QuestionKind): AnyRow => questions[kind] as AnyRow;

/** What users see while a rule holds that only waits for an answer to a question. */
export function whileOutstanding(rule: string): AnyRow['status']['whileOutstanding'] {
  const kind = awaitedBy(rule);
  return kind === undefined ? 'its hold' : rowOf(kind).status.whileOutstanding;
}

export const noAnswers = Object.fromEntries(questionKinds.map((kind) => [kind, rowOf(kind).initial])) as Answers;

type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Both) => void
  ? Both
  : never;
type FactsOf<Kind extends QuestionKind> = Kind extends QuestionKind ? ReturnType<Questions[Kind]['facts']> : never;
type MemberFactsOf<Kind extends QuestionKind> = Kind extends QuestionKind
  ? Questions[Kind] extends Row<Kind, infer _Answer, infer _Facts extends Partial<ClusterSnapshot>, infer Member>
    ? Member
    : never
  : never;

/** The facts of all rows. The compiler refuses a snapshot that lacks one of them. */
export type AnsweredFacts = All<FactsOf<QuestionKind>>;
export type AnsweredMemberFacts = All<MemberFactsOf<QuestionKind>>;

export function factsOf(
  answers: Answers,
  given: Given,
): { readonly cluster: AnsweredFacts; readonly member: (pod: PodRecord) => AnsweredMemberFacts } {
  const cluster = together(questionKinds.map((kind) => rowOf(kind).facts(answers[kind], given)));
  const ofMembers = questionKinds.flatMap((kind) => rowOf(kind).memberFacts?.(answers[kind], given, cluster) ?? []);
  return {
    cluster: cluster as AnsweredFacts,
    member: (pod) => together(ofMembers.map((of) => of(pod))) as AnsweredMemberFacts,
  };
}

const together = <Some extends object>(all: readonly Some[]): Some =>
  all.reduce((sum, one) => ({ ...sum, ...one }), {} as Some);

/** The fields of the status that follow from answers. */
export const answeredFields = (answers: Answers, observed: Observed): Fields<RolloutStatus> =>
  together(questionKinds.map((kind) => rowOf(kind).status.fields?.(answers[kind], observed) ?? {}));

export const answeredMemberFields = (answers: Answers, observed: Observed, ordinal: number): Fields<MemberStatus> =>
  together(questionKinds.map((kind) => rowOf(kind).status.memberFields?.(answers[kind], observed, ordinal) ?? {}));

/** Seconds until these fields change by themselves. */
export const answersChangeInSeconds = (observed: Observed): readonly number[] =>
  questionKinds.flatMap((kind) => rowOf(kind).status.changesInSeconds?.(observed) ?? []);
