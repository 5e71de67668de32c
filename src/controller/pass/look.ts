import { keepsTurn } from '../../core/rules/catalogue.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { Asking } from '../questions/asking.ts';
import { type AnyRow, questionKinds, rowOf } from '../questions/questions.ts';
import { type Observation, observeCached } from './observe.ts';
import type { Pass } from './pass.ts';
import { rememberAnswers, rememberSeen } from './remember.ts';

/** Observes the cached objects. `null` if there is no such cluster. */
export function look(pass: Pass): Observation | null {
  const observed = observeCached(pass);
  return observed && rememberSeen(pass.memory, observed);
}

/**
 * Looks, asks what the decision lacks, in the order of the table of questions, and looks again after each answer.
 * Rejects with `ApiError`: then no step is taken.
 */
export async function lookAndAsk(pass: Pass<ClusterApi>): Promise<Observation | null> {
  let observed = look(pass);
  for (const kind of questionKinds) {
    if (observed === null) return null;
    const row = rowOf(kind);
    const before = pass.memory.answers[kind];
    if (row.ask === undefined) continue;
    if (row.inTurn && keepsTurn(observed.decision.hold?.rule)) {
      // Other clusters may have decided since: two never take the same slot.
      observed = look(pass);
      if (observed === null) return null;
      if (keepsTurn(observed.decision.hold?.rule)) pass.context.fleet.setAsking(pass.key, true);
    }
    const question = observed.decision.asks.find((one) => one.kind === kind);
    const answer =
      question === undefined ? unasked(row, before, observed) : await row.ask(question, asking(pass, observed), before);
    if (answer === null) continue;
    rememberAnswers(pass.memory, { [kind]: answer });
    observed = look(pass);
  }
  return observed;
}

/** `null` if nothing changes because the question is not asked any more. */
function unasked(row: AnyRow, before: unknown, observed: Observation): unknown {
  const kept = row.keep === undefined ? before : row.keep(before, observed);
  return kept === before ? null : kept;
}

/** What a question is given. */
export function asking<Api extends ClusterApi>(
  { key, api, signal, context }: Pass<Api>,
  observed: Observation,
): Asking<Api> {
  const { world, log, metrics } = context;
  return { key, observed, api, sources: context, world, log, metrics, signal };
}
