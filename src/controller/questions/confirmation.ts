import type { Question, QuestionKind } from '../../core/questions.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import { type Asking, type Row, type Sources, timed } from './asking.ts';
import { type Answers, rowOf } from './questions.ts';

// The questions that are asked again right before a step is written.

type Order = NonNullable<Row<QuestionKind, unknown>['confirm']>['order'];

/** The questions that are asked again right before a step is written. */
export interface AskedAgain {
  /** How many requests to the API server the questions take. */
  readonly requests: number;
  /** Asks all questions with this `order` in parallel. Rejects with `ApiError`. */
  readonly ask: (order: Order, api: ClusterApi) => Promise<Partial<Answers>>;
}

export function asksAgain(questions: readonly Question[], asking: Omit<Asking, 'api'>, before: Answers): AskedAgain {
  const planned = questions.flatMap((question) => {
    const { kind } = question;
    const { confirm } = rowOf(kind);
    return confirm === null ? [] : [{ kind, order: confirm.order, plan: confirm.plan(question, asking, before[kind]) }];
  });
  return {
    requests: planned.reduce((sum, { plan }) => sum + plan.requests, 0),
    ask: async (order, api) => {
      const asked = planned
        .filter((one) => one.order === order)
        .map(async ({ kind, plan }) => [kind, await timed(kind, asking, () => plan.ask(api))] as const);
      return Object.fromEntries(await Promise.all(asked));
    },
  };
}

/** The answers without those that count only in this confirmation. */
export const toRemember = (answers: Partial<Answers>): Partial<Answers> =>
  Object.fromEntries(entriesOf(answers).filter(([kind]) => !rowOf(kind).confirm?.isForgotten));

/** Whether the step now depends on something that this confirmation did not ask. */
export const isOvertaken = (answers: Partial<Answers>, objects: ClusterObjects, sources: Sources): boolean =>
  entriesOf(answers).some(([kind, answer]) => rowOf(kind).confirm?.isOvertaken?.(answer, objects, sources) === true);

const entriesOf = (answers: Partial<Answers>): readonly (readonly [QuestionKind, unknown])[] =>
  Object.entries(answers) as (readonly [QuestionKind, unknown])[];
