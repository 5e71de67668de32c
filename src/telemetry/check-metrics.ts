import { Counter, Histogram, type Registry } from 'prom-client';
import { labelValue } from './label-value.ts';

const bucketsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What Prometheus sees of the queries that it is asked for checks. */
export class CheckMetrics {
  readonly requests: Counter<'result'>;
  readonly durationSeconds: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'moco_rollout_check_requests_total',
      help: 'Queries of checks that Prometheus was asked, by result (Passing, Failing, Unknown).',
      labelNames: ['result'],
      registers,
    });
    this.durationSeconds = new Histogram({
      name: 'moco_rollout_check_request_duration_seconds',
      help: 'Time until Prometheus answered the query of a check, or until the time limit.',
      buckets: bucketsSeconds,
      registers,
    });
  }

  countRequest(result: string): void {
    this.requests.inc({ result: labelValue(result) });
  }
}
