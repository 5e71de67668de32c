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
import { nodes } from './nodes.ts';
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
 * THE TABLE: what to do for each kind of question that the core asks, in the order in which a pass asks them. The
 * cluster is observed again after each answer, so a later question is asked only if the decision still needs it.
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
  nodes,
  moco,
  members,
  checks,
  policies,
} satisfies { readonly [Kind in QuestionKind]: Row<Kind, unknown> };

type Questions = typeof questions;

/** The last answers, by question. */
export type Answers = { readonly [Kind in QuestionKind]: Questions[Kind]['initial'] };

/**
 * A row of any kind. The compiler cannot check that a question and its row are of the same kind, so the caller must
 * ensure it.
 */
export type AnyRow = Row<QuestionKind, unknown, Partial<ClusterSnapshot>, Partial<MemberFacts>>;

export const questionKinds = Object.keys(questions) as readonly QuestionKind[];

export const rowOf = (kind: QuestionKind): AnyRow => questions[kind] as AnyRow;

/** What users see while the rule holds only because it lacks an answer. */
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

/** The facts of all rows. The compiler rejects a snapshot that lacks one of them. */
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

/** The fields of the status that show answers. */
export const answeredFields = (answers: Answers, observed: Observed): Fields<RolloutStatus> =>
  together(questionKinds.map((kind) => rowOf(kind).status.fields?.(answers[kind], observed) ?? {}));

export const answeredMemberFields = (answers: Answers, observed: Observed, ordinal: number): Fields<MemberStatus> =>
  together(questionKinds.map((kind) => rowOf(kind).status.memberFields?.(answers[kind], observed, ordinal) ?? {}));

/** Seconds until each of these fields changes without a new answer. */
export const answersChangeInSeconds = (observed: Observed): readonly number[] =>
  questionKinds.flatMap((kind) => rowOf(kind).status.changesInSeconds?.(observed) ?? []);
