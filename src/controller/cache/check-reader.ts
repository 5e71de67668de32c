import { type Check, queryFor } from '../../api/check-settings.ts';
import type { CheckReading } from '../../core/on-demand-facts.ts';
import type { PrometheusQuery } from '../../kube/prometheus-http.ts';

/** Asks whether a check passes for a cluster. Never rejects. */
export type CheckReader = (
  check: Check,
  cluster: { readonly namespace: string; readonly name: string },
) => Promise<CheckReading>;

/** As an alerting rule: any series in the answer fails the check. `query` is `null` without a Prometheus. */
export function prometheusChecks(query: PrometheusQuery | null): CheckReader {
  return async (check, cluster) => {
    if (query === null) return { kind: 'unknown', message: 'the controller runs without --prometheus-url' };
    try {
      const [first, ...others] = await query(queryFor(check, cluster));
      return first === undefined
        ? { kind: 'passing' }
        : { kind: 'failing', series: { ...first, others: others.length } };
    } catch (error) {
      return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
    }
  };
}
