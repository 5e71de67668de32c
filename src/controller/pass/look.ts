import type { Question, QuestionKind } from '../../core/questions.ts';
import { keepsTurn } from '../../core/rules/catalogue.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import { type Asking, timed } from '../questions/asking.ts';
import { type Answers, questionKinds, rowOf } from '../questions/questions.ts';
import { type Observation, observeCached } from './observe.ts';
import type { Pass } from './pass.ts';
import { rememberAnswers, rememberSeen } from './remember.ts';

// Observes a cluster, and asks the questions that the decision leaves open.
//
// observe ---> decision.asks? --no--> continue with the decision ^               |
// |              yes: the first question of the table (questions/questions.ts) +--- answer ----+

/** Observes the cached objects. `null` if there is no such cluster. */
export function look(pass: Pass): Observation | null {
  const observed = observeCached(pass);
  return observed && rememberSeen(pass.memory, observed);
}

/**
 * Observes the cluster, asks what the decision lacks, and observes again after each answer, until no question is open.
 * Questions are asked in the order of the table, and each kind at most once in a pass. Questions that are asked while
 * users see the previous hold are asked together. Rejects with `ApiError`; the pass then performs no step.
 */
export async function lookAndAsk(pass: Pass<ClusterApi>): Promise<Observation | null> {
  let observed = forgetUnasked(pass, look(pass));
  const left = new Set(questionKinds.filter((kind) => rowOf(kind).ask !== undefined));
  for (;;) {
    const open = questionKinds.filter((kind) => left.has(kind) && questionIn(observed, kind) !== undefined);
    const [first, ...others] = open;
    if (first === undefined) return observed;
    const kinds = [first, ...(isLast(first) ? others.filter(isLast) : [])];
    for (const kind of kinds) left.delete(kind);
    // Other clusters may have made decisions in the meantime, and two clusters must not use the same slot.
    if (rowOf(first).inTurn && keepsTurn(observed?.decision.hold?.rule)) {
      observed = look(pass);
      if (keepsTurn(observed?.decision.hold?.rule)) pass.context.fleet.setAsking(pass.key, true);
    }
    const answers = observed === null ? {} : await answersTo(kinds, observed, pass);
    if (Object.keys(answers).length === 0) continue;
    rememberAnswers(pass.memory, answers);
    observed = look(pass);
  }
}

/** Whether the question is asked only when nothing else holds the step. */
const isLast = (kind: QuestionKind): boolean => rowOf(kind).status.whileOutstanding === 'the previous hold';

/** Asks questions in parallel. The result contains only questions with a new answer. */
async function answersTo(
  kinds: readonly QuestionKind[],
  observed: Observation,
  pass: Pass<ClusterApi>,
): Promise<Partial<Answers>> {
  const asked = kinds.map(async (kind) => {
    const question = questionIn(observed, kind);
    if (question === undefined) return [];
    const all = asking(pass, observed);
    const before = pass.memory.answers[kind];
    const answer = await timed(kind, all, async () => rowOf(kind).ask?.(question, all, before) ?? null);
    return answer === null ? [] : [[kind, answer] as const];
  });
  return Object.fromEntries((await Promise.all(asked)).flat());
}

const questionIn = (observed: Observation | null, kind: QuestionKind): Question | undefined =>
  observed?.decision.asks.find((one) => one.kind === kind);

/** Forgets answers that the cluster no longer needs. */
function forgetUnasked(pass: Pass<ClusterApi>, observed: Observation | null): Observation | null {
  if (observed === null) return null;
  const { answers } = pass.memory;
  const kept = questionKinds.flatMap((kind) => {
    const row = rowOf(kind);
    if (row.keep === undefined || questionIn(observed, kind) !== undefined) return [];
    const one = row.keep(answers[kind], observed);
    return one === answers[kind] ? [] : [[kind, one] as const];
  });
  if (kept.length === 0) return observed;
  rememberAnswers(pass.memory, Object.fromEntries(kept));
  return look(pass);
}

/** The inputs of a question. */
export function asking<Api extends ClusterApi>(
  { key, api, signal, context }: Pass<Api>,
  observed: Observation,
): Asking<Api> {
  const { world, log, metrics } = context;
  return { key, observed, api, sources: context, world, log, metrics, signal };
}
