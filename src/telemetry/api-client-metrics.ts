import { Counter, Histogram, type Registry } from 'prom-client';

const bucketsSeconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * Requests to the API server, under the names that client-go gives them, so that dashboards for controllers show this
 * one as well. The duration ends with the head of the response: a watch lasts as long as it is followed.
 */
export class ApiClientMetrics {
  readonly #requests: Counter<'code' | 'method'>;
  readonly #durationSeconds: Histogram<'verb'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server by method and by code of the response; code <error> without a response.',
      labelNames: ['code', 'method'],
      registers,
    });
    this.#durationSeconds = new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time from a request to the API server until the head of its response, by method.',
      labelNames: ['verb'],
      buckets: bucketsSeconds,
      registers,
    });
  }

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
