import { Declared, labelValue } from './declared.ts';

/**
 * Requests to the API server, under the names that client-go gives them, so that dashboards for controllers show this
 * one as well. The duration ends with the head of the response: a watch lasts as long as it is followed.
 */
export class ApiClientMetrics extends Declared {
  readonly #requests = this.counter(
    'rest_client_requests_total',
    'Requests to the API server by method and by code of the response; code <error> without a response.',
    'code',
    'method',
  );
  readonly #durationSeconds = this.histogram(
    'rest_client_request_duration_seconds',
    'Time from a request to the API server until the head of its response, by method.',
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    'verb',
  );

  /** The same exchange, which counts. `monotonic` is in milliseconds. */
  counting<Request extends { readonly method: string }, Response extends { readonly status: number }>(
    exchange: (request: Request) => Promise<Response>,
    monotonic: () => number,
  ): (request: Request) => Promise<Response> {
    return async (request) => {
      const since = monotonic();
      let code = '<error>';
      try {
        const response = await exchange(request);
        code = String(response.status);
        return response;
      } finally {
        this.#requests.inc({ code, method: request.method });
        this.#durationSeconds.observe({ verb: request.method }, (monotonic() - since) / 1000);
      }
    };
  }
}

/** Requests to the webhook, where this process serves it. */
export class WebhookMetrics extends Declared {
  readonly #requests = this.counter(
    'moco_rollout_webhook_requests_total',
    'Requests to the webhook by code of the response: 200 with a review, 4xx for a wrong request, 500 for an error.',
    'code',
  );
  readonly #durationSeconds = this.histogram(
    'moco_rollout_webhook_request_duration_seconds',
    'Time from the head of a request to the webhook until its response.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );

  answered(code: number, milliseconds: number): void {
    this.#requests.inc({ code: String(code) });
    this.#durationSeconds.observe(milliseconds / 1000);
  }
}

/** The queries that Prometheus is asked for checks. */
export class CheckMetrics extends Declared {
  readonly #requests = this.counter(
    'moco_rollout_check_requests_total',
    'Queries of checks that Prometheus was asked, by result (Passing, Failing, Unknown).',
    'result',
  );
  readonly durationSeconds = this.histogram(
    'moco_rollout_check_request_duration_seconds',
    'Time until Prometheus answered the query of a check, or until the time limit.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );

  countRequest(result: string): void {
    this.#requests.inc({ result: labelValue(result) });
  }
}
