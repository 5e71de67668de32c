import type { FailingSeries } from '../check-reading.ts';
import { type FailingCheck, failingChecks, pendingChecks, type UnansweredCheck, unansweredChecks } from '../checks.ts';
import { plural, withoutFullStop } from '../sentences.ts';
import { after, rule } from './rule.ts';

/** Queries of the user that have to return nothing. */
export const checks = {
  CheckFailing: rule<{ readonly checks: readonly FailingCheck[] }>({
    holds: ({ situation }) => failingChecks(situation),
    sentence: ({ checks }) =>
      checks.map(({ check, ...series }) => `the check ${check} fails: ${explainSeries(series)}`).join('; '),
    meaning: 'The query of a check returns a series (checks).',
    details:
      'Prometheus is asked right before a member that works is taken, and every 30 seconds while an updated member participates for minReadySeconds or a later stage waits for the cluster; that stage then waits for the whole soakDuration again. Members that are down, and clusters whose primary does not participate, do not wait.',
    endedBy: ['the members', 'a person'],
    ends: 'By itself, once the query returns nothing. The message has the labels and the value of the first series; look at what it measures. If the query is wrong, correct it in `checks`.',
    overridable: true,
    alert: 'MocoRolloutCheckHolds',
    assumed: after('moment', (snapshot) => snapshot),
  }),
  CheckPending: rule<{ readonly checks: readonly string[] }>({
    holds: ({ situation }) => pendingChecks(situation),
    sentence: ({ checks }) =>
      `Prometheus is being asked about the ${plural(checks, 'check', 'checks')} ${checks.join(', ')}`,
    meaning: 'A check has no answer that is recent enough for a step.',
    details:
      'The answer decides. It may be asked for although `CheckUnavailable` is overridden, which is about a Prometheus that does not answer.',
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
      return `Prometheus has no answer to the ${plural(checks, 'check', 'checks')} ${names}: ${messages.join('; ')}`;
    },
    meaning: 'Prometheus has not answered a check, or the answer can not be used.',
    details:
      'Prometheus is asked again after 30 seconds. A soak goes on for five minutes without an answer, and begins anew after that.',
    endedBy: ['a person', 'time'],
    ends: 'By itself, once Prometheus answers. Check --prometheus-url, its certificate and token, and the query: the message has the words of Prometheus.',
    overridable: true,
    brief: true,
    alert: 'MocoRolloutCheckHolds',
    assumed: after('moment', (snapshot) => snapshot),
  }),
};

/** As PromQL writes a series. */
function explainSeries({ labels: { __name__: metric = '', ...labels }, value, others }: FailingSeries): string {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}=${JSON.stringify(text)}`);
  const series = pairs.length > 0 || metric === '' ? `${metric}{${pairs.join(', ')}}` : metric;
  return `${series} is ${value}${others === 0 ? '' : `, and ${others} more`}`;
}
