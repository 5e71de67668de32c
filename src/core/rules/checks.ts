import type { CheckFacts, FailingSeries } from '../on-demand-facts.ts';
import { plural, withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

// Rules about Prometheus' answers to the users' checks.

/** Checks are queries of the user that must return nothing. */
export const checks = {
  CheckFailing: rule<{ readonly checks: readonly FailingCheck[] }>({
    holds: ({ situation }) => failingChecks(situation),
    sentence: ({ checks }) =>
      checks.map(({ check, ...series }) => `the check ${check} fails: ${explainSeries(series)}`).join('; '),
    meaning: 'The query of a check returns a series, or one of its metrics has no series and noData is Fail (checks).',
    details:
      'Prometheus is queried right before a working member is replaced. It is also queried every 30 seconds while an updated member has to participate for minReadySeconds, and while a later stage waits for the cluster. If a check fails during a soak, that stage waits for the whole soakDuration again. Members that are down do not wait, except those that are only waiting to start. Clusters whose primary does not participate do not wait either.',
    endedBy: ['the members', 'a person'],
    ends: 'By itself, once the query returns nothing. The message contains the labels and the value of the first series; look at what that series measures. If the query is wrong, correct it in `checks`.',
    overridable: true,
    alert: 'MocoRolloutCheckHolds',
    assumed: after('moment', (snapshot) => snapshot),
  }),
  CheckPending: rule<{ readonly checks: readonly string[] }>({
    holds: ({ situation }) => pendingChecks(situation),
    awaits: 'checks',
    sentence: ({ checks }) =>
      `waiting for Prometheus to answer the ${plural(checks, 'check', 'checks')} ${checks.join(', ')}`,
    meaning: 'The last answer to a check is too old for a step, or there is none.',
    details:
      'The answer decides whether the step may begin. Prometheus is queried even while `CheckUnavailable` is overridden, because that rule is about missing answers.',
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
      return `Prometheus returned no usable result for the ${plural(checks, 'check', 'checks')} ${names} (${messages.join('; ')})`;
    },
    meaning:
      'Prometheus has not answered a check, its answer is unusable, or one of its metrics has no series and noData is Wait.',
    details:
      'Prometheus is queried again after 30 seconds. Without an answer, a soak continues for five minutes and then starts over.',
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
  return `${series} is ${value}${others === 0 ? '' : ` (and ${others} more series)`}`;
}

/**
 * Before a step, a check must have passed within this time. That leaves enough time to ask replicas and to confirm the
 * step.
 */
export const freshSeconds = 5;
/**
 * How often a check is queried while the rollout waits for it, or while it watches the rollout. Most targets are
 * scraped as often.
 */
export const askAgainSeconds = 30;
/**
 * An answer older than this belongs to an earlier step. If an answer is still needed, the check is queried again
 * sooner.
 */
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

/** The checks that fail. A failing check keeps failing until the next answer arrives. `null` if no check fails. */
export function failingChecks(situation: Situation): { readonly checks: readonly FailingCheck[] } | null {
  return orNull(
    judgedChecks(situation).flatMap(({ name, reading }) =>
      reading?.kind === 'failing' ? [{ check: name, ...reading.series }] : [],
    ),
  );
}

/**
 * The checks without a recent answer. `null` if there are none, or if a person has overridden the rules about checks.
 */
function pendingChecks(situation: Situation): { readonly checks: readonly string[] } | null {
  if (noAnswerMatters(situation)) return null;
  return orNull(judgedChecks(situation).flatMap(({ name, isAwaited }) => (isAwaited ? [name] : [])));
}

/**
 * Whether no answer matters, because a person has overridden both the rule for failing checks and the rule for missing
 * answers.
 */
export const noAnswerMatters = ({ overridden }: Situation): boolean =>
  overridden.has('CheckUnavailable') && overridden.has('CheckFailing');

const unansweredChecks = (situation: Situation): { readonly checks: readonly UnansweredCheck[] } | null =>
  orNull(unknown(judgedChecks(situation)));

/** The checks that have had no answer for longer than a soak may continue without one. */
export function silentChecks(situation: Situation): { readonly checks: readonly UnansweredCheck[] } | null {
  return orNull(unknown(judgedChecks(situation).filter(({ isSilent }) => isSilent)));
}

/** Whether a check has no answer, or one that is too old, although a step or a watched cluster needs it. */
export const needsAnswer = (situation: Situation, forStep: boolean): boolean =>
  judgedChecks(situation).some(({ isAwaited, isOld }) => isOld || (forStep && isAwaited));

/**
 * Whether all checks pass. A soak that has begun continues without an answer for a while, but a new soak does not
 * begin.
 */
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
  /** The step cannot be judged before the next answer arrives. */
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
