import { Counter, Histogram, type Registry } from 'prom-client';

const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Requests to the webhook, where this process serves it. */
export class WebhookMetrics {
  readonly #requests: Counter<'code'>;
  readonly #durationSeconds: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'moco_rollout_webhook_requests_total',
      help: 'Requests to the webhook by code of the response: 200 with a review, 4xx for a wrong request, 500 for an error.',
      labelNames: ['code'],
      registers,
    });
    this.#durationSeconds = new Histogram({
      name: 'moco_rollout_webhook_request_duration_seconds',
      help: 'Time from the head of a request to the webhook until its response.',
      buckets: bucketsSeconds,
      registers,
    });
  }

  answered(code: number, milliseconds: number): void {
    this.#requests.inc({ code: String(code) });
    this.#durationSeconds.observe(milliseconds / 1000);
  }
}
