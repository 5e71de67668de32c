import type { CheckFacts, FailingSeries } from '../on-demand-facts.ts';
import { plural, withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

// Rules about Prometheus' answers to the users' checks.

/** Queries of the user that must return nothing. */
export const checks = {
  CheckFailing: rule<{ readonly checks: readonly FailingCheck[] }>({
    holds: ({ situation }) => failingChecks(situation),
    sentence: ({ checks }) =>
      checks.map(({ check, ...series }) => `the check ${check} fails: ${explainSeries(series)}`).join('; '),
    meaning: 'The query of a check returns a series, or one of its metrics has no series and noData is Fail (checks).',
    details:
      'Prometheus is queried right before a working member is replaced. It is also queried every 30 seconds while an updated member participates for minReadySeconds, and while a later stage waits for the cluster; if a check fails then, that stage waits for the whole soakDuration again. Members that are down, and clusters whose primary does not participate, do not wait.',
    endedBy: ['the members', 'a person'],
    ends: 'By itself, once the query returns nothing. The message has the labels and the value of the first series; look at what it measures. If the query is wrong, correct it in `checks`.',
    overridable: true,
    alert: 'MocoRolloutCheckHolds',
    assumed: after('moment', (snapshot) => snapshot),
  }),
  CheckPending: rule<{ readonly checks: readonly string[] }>({
    holds: ({ situation }) => pendingChecks(situation),
    awaits: 'checks',
    sentence: ({ checks }) =>
      `waiting for Prometheus to answer the ${plural(checks, 'check', 'checks')} ${checks.join(', ')}`,
    meaning: 'A check has no answer that is recent enough for a step.',
    details:
      'The answer decides. Prometheus is queried even while `CheckUnavailable` is overridden, because that rule is about missing answers.',
    endedBy: ['time'],
    ends: 'By itself, within seconds.',
    routine: true,
    brief: true,
    assumed: after('moment', (snapshot) => snapshot),
  }),
  CheckUnavailable: rule<{ readonly checks: readonly UnansweredCheck[] }>({
    holds: ({ situation }) => unansweredChecks(situation),
    sentence: ({ checks }) => {
      const names = checks.map(({ check }) => check).join(', ');
      const messages = [...new Set(checks.map(({ message }) => message))].map(withoutFullStop);
      return `Prometheus returned no usable result for the ${plural(checks, 'check', 'checks')} ${names}: ${messages.join('; ')}`;
    },
    meaning:
      'Prometheus has not answered a check, its answer is unusable, or one of its metrics has no series and noData is Wait.',
    details:
      'Prometheus is queried again after 30 seconds. A soak continues for five minutes without an answer, and then starts over.',
    endedBy: ['a person', 'time'],
    ends: 'By itself, once Prometheus answers. Check --prometheus-url, its certificate and token, and the query: the message quotes Prometheus.',
    overridable: true,
    alert: 'MocoRolloutCheckHolds',
    assumed: after('moment', (snapshot) => snapshot),
  }),
};

/** The series in PromQL's notation. */
function explainSeries(failing: FailingSeries): string {
  const {
    labels: { __name__: metric = '', ...labels },
    value,
    others,
    missing,
  } = failing;
  if (missing !== undefined) return `there is no series of ${missing}`;
  const pairs = Object.entries(labels).map(([name, text]) => `${name}=${JSON.stringify(text)}`);
  const series = pairs.length > 0 || metric === '' ? `${metric}{${pairs.join(', ')}}` : metric;
  return `${series} is ${value}${others === 0 ? '' : `, and ${others} more`}`;
}

/**
 * Before a step, a check must have passed within this time. It is long enough to ask replicas and to confirm the step.
 */
export const freshSeconds = 5;
/**
 * How often a check is queried while the rollout waits for it or is watched by it: as often as most targets are
 * scraped.
 */
export const askAgainSeconds = 30;
/** An older answer belongs to an earlier step: while one is needed, it is renewed sooner than this. */
const forgottenSeconds = 60;
/** How long a soak continues without an answer, so that a restart of Prometheus does not reset it. */
const soakWithoutAnswerSeconds = 300;

interface FailingCheck extends FailingSeries {
  readonly check: string;
}

interface UnansweredCheck {
  readonly check: string;
  readonly message: string;
}

/** A failing check keeps failing until another answer arrives. `null` if no check fails. */
export function failingChecks(situation: Situation): { readonly checks: readonly FailingCheck[] } | null {
  return orNull(
    judgedChecks(situation).flatMap(({ name, reading }) =>
      reading?.kind === 'failing' ? [{ check: name, ...reading.series }] : [],
    ),
  );
}

/** Checks without a recent answer, unless answers do not matter. */
function pendingChecks(situation: Situation): { readonly checks: readonly string[] } | null {
  if (noAnswerMatters(situation)) return null;
  return orNull(judgedChecks(situation).flatMap(({ name, isAwaited }) => (isAwaited ? [name] : [])));
}

/** A person has overridden both the rule for failing checks and the one for missing answers. */
export const noAnswerMatters = ({ overridden }: Situation): boolean =>
  overridden.has('CheckUnavailable') && overridden.has('CheckFailing');

const unansweredChecks = (situation: Situation): { readonly checks: readonly UnansweredCheck[] } | null =>
  orNull(unknown(judgedChecks(situation)));

/** While a cluster soaks, its checks may lack an answer for a while, but not for long. */
export function silentChecks(situation: Situation): { readonly checks: readonly UnansweredCheck[] } | null {
  return orNull(unknown(judgedChecks(situation).filter(({ isSilent }) => isSilent)));
}

/** An answer that a step needs, or that a watched cluster needs, is missing or too old. */
export const needsAnswer = (situation: Situation, forStep: boolean): boolean =>
  judgedChecks(situation).some(({ isAwaited, isOld }) => isOld || (forStep && isAwaited));

/** A soak that has begun continues without an answer for a while, but no new one begins. */
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
  /** Prometheus has not answered for so long that the soak starts over. */
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
