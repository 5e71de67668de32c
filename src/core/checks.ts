import type { CheckFacts, FailingSeries } from './check-reading.ts';
import type { Situation } from './situation.ts';

/** Before a step a check has to have passed within this time: enough to ask replicas and to confirm the step. */
const freshSeconds = 5;
/** How often a check is asked while the rollout waits for it or watches it: as often as most targets are scraped. */
const askAgainSeconds = 30;
/** An older answer belongs to an earlier step: while one is needed, the next one comes before that. */
const forgottenSeconds = 60;
/** How long a soak goes on without an answer, so that a restart of Prometheus does not begin it anew. */
const soakWithoutAnswerSeconds = 300;

export interface FailingCheck extends FailingSeries {
  readonly check: string;
}

export interface UnansweredCheck {
  readonly check: string;
  readonly message: string;
}

/** A check that fails does so until an answer says otherwise. `null` if none does. */
export function failingChecks(situation: Situation): { readonly checks: readonly FailingCheck[] } | null {
  return orNull(
    judgedChecks(situation).flatMap(({ name, reading }) =>
      reading?.kind === 'failing' ? [{ check: name, ...reading.series }] : [],
    ),
  );
}

/** Checks without a recent answer, unless no answer matters. */
export function pendingChecks(situation: Situation): { readonly checks: readonly string[] } | null {
  const { overridden } = situation;
  if (overridden.has('CheckUnavailable') && overridden.has('CheckFailing')) return null;
  return orNull(judgedChecks(situation).flatMap(({ name, isAwaited }) => (isAwaited ? [name] : [])));
}

/** Checks whose last answer can't be used. */
export const unansweredChecks = (situation: Situation): { readonly checks: readonly UnansweredCheck[] } | null =>
  orNull(unknown(judgedChecks(situation)));

/** While a cluster soaks, its checks may have no answer for a while, but not for long. */
export function silentChecks(situation: Situation): { readonly checks: readonly UnansweredCheck[] } | null {
  return orNull(unknown(judgedChecks(situation).filter(({ isSilent }) => isSilent)));
}

/** An answer is missing or too old: for a step, or for a cluster that is watched. */
export const needsAnswer = (situation: Situation, forStep: boolean): boolean =>
  judgedChecks(situation).some(({ isAwaited, isOld }) => isOld || (forStep && isAwaited));

/** Without an answer the soak that has begun goes on for a while, but none begins. */
export function allPass(situation: Situation): boolean {
  const { overridden } = situation;
  return judgedChecks(situation).every(
    ({ reading }) =>
      reading?.kind === 'passing' ||
      (reading?.kind === 'failing' && overridden.has('CheckFailing')) ||
      (reading?.kind === 'unknown' && overridden.has('CheckUnavailable')),
  );
}

const orNull = <Check>(checks: readonly Check[]): { readonly checks: readonly Check[] } | null =>
  checks.length > 0 ? { checks } : null;

const unknown = (judged: readonly Judged[]): readonly UnansweredCheck[] =>
  judged.flatMap(({ name, reading }) =>
    reading?.kind === 'unknown' ? [{ check: name, message: reading.message }] : [],
  );

const judgedChecks = (situation: Situation): readonly Judged[] =>
  situation.snapshot.checks.map((check) => judged(situation, check));

interface Judged extends Pick<CheckFacts, 'name' | 'reading'> {
  readonly isOld: boolean;
  /** A step can't be judged before the next answer. */
  readonly isAwaited: boolean;
  /** Prometheus has not answered for so long that a soak does not go on. */
  readonly isSilent: boolean;
}

function judged({ deadlines }: Situation, { name, reading, ageSeconds, unknownForSeconds }: CheckFacts): Judged {
  const last = reading === null || deadlines.reached(ageSeconds, forgottenSeconds) ? null : reading;
  const isOld = last === null || deadlines.reached(ageSeconds, askAgainSeconds);
  const isAwaited =
    last?.kind === 'passing' ? deadlines.reached(ageSeconds, freshSeconds) : isOld && last?.kind !== 'failing';
  const isSilent = last?.kind === 'unknown' && deadlines.reached(unknownForSeconds, soakWithoutAnswerSeconds);
  return { name, reading: last, isOld, isAwaited, isSilent };
}
