import type { Question, QuestionKind } from '../../core/questions.ts';
import { keepsTurn } from '../../core/rules/catalogue.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { Asking } from '../questions/asking.ts';
import { questionKinds, rowOf } from '../questions/questions.ts';
import { type Observation, observeCached } from './observe.ts';
import type { Pass } from './pass.ts';
import { rememberAnswers, rememberSeen } from './remember.ts';

/** Observes the cached objects. `null` if there is no such cluster. */
export function look(pass: Pass): Observation | null {
  const observed = observeCached(pass);
  return observed && rememberSeen(pass.memory, observed);
}

/**
 * Looks, asks what the decision lacks, and looks again after each answer, until nothing is left to ask. Of several
 * questions the first in the table is asked first, and each kind at most once in a pass. Rejects with `ApiError`: then
 * no step is taken.
 */
export async function lookAndAsk(pass: Pass<ClusterApi>): Promise<Observation | null> {
  let observed = forgetUnasked(pass, look(pass));
  const left = new Set(questionKinds.filter((kind) => rowOf(kind).ask !== undefined));
  for (;;) {
    const kind = questionKinds.find((one) => left.has(one) && questionIn(observed, one) !== undefined);
    if (kind === undefined) return observed;
    left.delete(kind);
    const row = rowOf(kind);
    // Other clusters may have decided since: two never take the same slot.
    if (row.inTurn && keepsTurn(observed?.decision.hold?.rule)) {
      observed = look(pass);
      if (keepsTurn(observed?.decision.hold?.rule)) pass.context.fleet.setAsking(pass.key, true);
    }
    const question = questionIn(observed, kind);
    if (observed === null || question === undefined) continue;
    const answer = await row.ask?.(question, asking(pass, observed), pass.memory.answers[kind]);
    if (answer === null) continue;
    rememberAnswers(pass.memory, { [kind]: answer });
    observed = look(pass);
  }
}

const questionIn = (observed: Observation | null, kind: QuestionKind): Question | undefined =>
  observed?.decision.asks.find((one) => one.kind === kind);

/** Forgets answers that the cluster needs no longer. */
function forgetUnasked(pass: Pass<ClusterApi>, observed: Observation | null): Observation | null {
  if (observed === null) return null;
  const { answers } = pass.memory;
  const kept = questionKinds.flatMap((kind) => {
    const { keep } = rowOf(kind);
    const one = keep === undefined || questionIn(observed, kind) ? answers[kind] : keep(answers[kind], observed);
    return one === answers[kind] ? [] : [[kind, one] as const];
  });
  if (kept.length === 0) return observed;
  rememberAnswers(pass.memory, Object.fromEntries(kept));
  return look(pass);
}

/** What a question is given. */
export function asking<Api extends ClusterApi>(
  { key, api, signal, context }: Pass<Api>,
  observed: Observation,
): Asking<Api> {
  const { world, log, metrics } = context;
  return { key, observed, api, sources: context, world, log, metrics, signal };
}
