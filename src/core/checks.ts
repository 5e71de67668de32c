import type { CheckFacts } from './check-reading.ts';
import type { HoldOf } from './rules/catalogue.ts';
import { type Outcome, type Situation, wait } from './situation.ts';
import { takenAtWork } from './taken-at-work.ts';

/** Before a step a check has to have passed within this time: enough to ask replicas and to confirm the step. */
const freshSeconds = 5;
/** How often a check is asked while the rollout waits for it or watches it: as often as most targets are scraped. */
const askAgainSeconds = 30;
/** An older answer belongs to an earlier step: while one is needed, the next one comes before that. */
const forgottenSeconds = 60;
/** How long a soak goes on without an answer, so that a restart of Prometheus does not begin it anew. */
const soakWithoutAnswerSeconds = 300;

export interface Checked {
  readonly outcome: Outcome | null;
  /** An answer is missing or too old. */
  readonly asks: boolean;
  /** Nothing is known against the checks. */
  readonly pass: boolean;
}

/**
 * Holds a step that takes a member that works, unless every check has just passed. A cluster is watched while its updated
 * member participates for minReadySeconds, and while a later stage waits for it: a check that fails then holds as well, and
 * no step is waiting for an answer.
 */
export function checked(situation: Situation, outcome: Outcome | null, complete: boolean): Checked {
  const { snapshot, overridden } = situation;
  const unwatched: Checked = { outcome, asks: false, pass: true };
  const isOff = overridden.has('CheckFailing') && overridden.has('CheckUnavailable');
  if (snapshot.checks.length === 0 || isOff) return unwatched;
  if (takenAtWork(situation, outcome?.step ?? null).length > 0) return beforeStep(situation, outcome);
  const soaks = complete && snapshot.laterStageWaits && outcome?.step?.kind === 'none';
  return soaks || isSettling(outcome) ? whileWatched(situation, outcome, soaks) : unwatched;
}

function beforeStep(situation: Situation, outcome: Outcome | null): Checked {
  const checks = situation.snapshot.checks.map((check) => judged(situation, check));
  const hold =
    failing(situation, checks) ?? unanswered(checks.filter(({ isAwaited }) => isAwaited)) ?? unknown(situation, checks);
  return {
    outcome: hold === null ? outcome : wait(hold),
    asks: checks.some(({ isAwaited, isOld }) => isAwaited || isOld),
    pass: hold === null,
  };
}

/** Without an answer the soak that has begun goes on for a while, but none begins. */
function whileWatched(situation: Situation, outcome: Outcome | null, soaks: boolean): Checked {
  const { overridden } = situation;
  const checks = situation.snapshot.checks.map((check) => judged(situation, check));
  const silent = soaks ? checks.filter(({ isSilent }) => isSilent) : [];
  const hold = failing(situation, checks) ?? unknown(situation, silent);
  const pass = checks.every(
    ({ reading }) =>
      reading?.kind === 'passing' ||
      (reading?.kind === 'failing' && overridden.has('CheckFailing')) ||
      (reading?.kind === 'unknown' && overridden.has('CheckUnavailable')),
  );
  return { outcome: hold === null ? outcome : wait(hold), asks: checks.some(({ isOld }) => isOld), pass };
}

/** An updated member works, and has not participated for minReadySeconds yet. */
const isSettling = (outcome: Outcome | null): boolean =>
  outcome?.hold?.rule === 'UpdatedMemberNotParticipating' && outcome.hold.wait.for === 'minReadySeconds';

interface Judged extends Pick<CheckFacts, 'name' | 'reading'> {
  readonly isOld: boolean;
  /** A step can't be judged before the next answer. */
  readonly isAwaited: boolean;
  /** Prometheus has not answered for so long that a soak does not go on. */
  readonly isSilent: boolean;
}

/** A check that fails does so until an answer says otherwise. */
function judged({ deadlines }: Situation, { name, reading, ageSeconds, unknownForSeconds }: CheckFacts): Judged {
  const last = reading === null || deadlines.reached(ageSeconds, forgottenSeconds) ? null : reading;
  const isOld = last === null || deadlines.reached(ageSeconds, askAgainSeconds);
  const isAwaited =
    last?.kind === 'passing' ? deadlines.reached(ageSeconds, freshSeconds) : isOld && last?.kind !== 'failing';
  const isSilent = last?.kind === 'unknown' && deadlines.reached(unknownForSeconds, soakWithoutAnswerSeconds);
  return { name, reading: last, isOld, isAwaited, isSilent };
}

function failing({ overridden }: Situation, among: readonly Judged[]): HoldOf<'CheckFailing'> | null {
  if (overridden.has('CheckFailing')) return null;
  const checks = among.flatMap(({ name, reading }) =>
    reading?.kind === 'failing' ? [{ check: name, ...reading.series }] : [],
  );
  return checks.length > 0 ? { rule: 'CheckFailing', checks } : null;
}

/** Even if the rule is overridden: that is about a Prometheus that does not answer, and it has not been asked yet. */
function unanswered(awaited: readonly Judged[]): HoldOf<'CheckUnavailable'> | null {
  const checks = awaited.map(({ name }) => ({ check: name, message: null }));
  return checks.length > 0 ? { rule: 'CheckUnavailable', checks } : null;
}

/** The answer decides, and nobody needs to know before. */
export const isBeingAsked = ({ checks }: HoldOf<'CheckUnavailable'>): boolean =>
  checks.some(({ message }) => message === null);

function unknown({ overridden }: Situation, among: readonly Judged[]): HoldOf<'CheckUnavailable'> | null {
  if (overridden.has('CheckUnavailable')) return null;
  const checks = among.flatMap(({ name, reading }) =>
    reading?.kind === 'unknown' ? [{ check: name, message: reading.message }] : [],
  );
  return checks.length > 0 ? { rule: 'CheckUnavailable', checks } : null;
}
