import type { NextStep } from './decision.ts';
import { effects } from './effects.ts';
import { type Hold, holdRules } from './rules/catalogue.ts';
import { allPass, checks, failingChecks, needsAnswer, noAnswerMatters, silentChecks } from './rules/checks.ts';
import type { Situation } from './situation.ts';

interface Watched {
  readonly outcome: NextStep;
  /** An answer is missing or too old. */
  readonly asks: boolean;
  /** No check is known to fail. */
  readonly pass: boolean;
}

/**
 * Whether Prometheus has to be queried. Before a step, the gates have already evaluated its answers. A cluster is also
 * watched while its updated member has to participate for minReadySeconds, and while a later stage waits for the
 * cluster. Then a failing check is a hold too, although no step is waiting for an answer.
 */
export function watched(situation: Situation, outcome: NextStep, complete: boolean): Watched {
  const { snapshot, overridden } = situation;
  if (snapshot.checks.length === 0 || noAnswerMatters(situation)) return { outcome, asks: false, pass: true };
  const { hold, candidate } = outcome;
  if (reachesChecks(situation, outcome)) {
    const pass = hold === null || !(hold.rule in checks);
    return { outcome, asks: needsAnswer(situation, true), pass };
  }
  const soaks = complete && snapshot.laterStageWaits && hold === null && candidate.kind === 'none';
  if (!soaks && !isSettling(hold)) return { outcome, asks: false, pass: true };
  const failing = overridden.has('CheckFailing') ? null : failingChecks(situation);
  const silent = soaks && !overridden.has('CheckUnavailable') ? silentChecks(situation) : null;
  const held: Hold | null =
    failing !== null
      ? { rule: 'CheckFailing', ...failing }
      : silent !== null
        ? { rule: 'CheckUnavailable', ...silent }
        : hold;
  return { outcome: { candidate, hold: held }, asks: needsAnswer(situation, false), pass: allPass(situation) };
}

/** The step needs the checks, and no rule that comes before the rules about checks holds the step. */
function reachesChecks(situation: Situation, { candidate, hold }: NextStep): boolean {
  return (
    effects(situation, candidate).some(({ kind }) => kind === 'risks' || kind === 'interrupts') &&
    (hold === null || holdRules.indexOf(hold.rule) >= holdRules.indexOf('CheckFailing'))
  );
}

/** An updated member works but has not participated for minReadySeconds yet. */
const isSettling = (hold: Hold | null): boolean =>
  hold?.rule === 'UpdatedMemberNotParticipating' && hold.wait.for === 'minReadySeconds';
