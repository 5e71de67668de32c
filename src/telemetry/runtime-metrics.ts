import type { Registry } from 'prom-client';
import { Declared, type Series } from './declared.ts';

// The metrics about this process as a client: requests, watches, queues and queries.

/**
 * Requests to the API server, under client-go's names, so that dashboards for controllers also show this program. The
 * duration ends with the response header, because the response to a watch does not end by itself.
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
    'Time from a request to the API server until its response header, by method.',
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    'verb',
  );

  /** Wraps an exchange so that its requests are counted. `monotonic` returns milliseconds. */
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

/** Requests to the webhook. These metrics exist only if this process serves it. */
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

/** The queries of checks to Prometheus. */
export class CheckMetrics extends Declared {
  readonly countRequest = this.countOf(
    'moco_rollout_check_requests_total',
    'Queries of checks to Prometheus, by result (Passing, Failing, Unknown).',
    'result',
  );
  readonly durationSeconds = this.histogram(
    'moco_rollout_check_request_duration_seconds',
    'Time until Prometheus answered the query of a check, or until the time limit.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );
}

/** How well the cache keeps up with the API server, by kind of object. */
export class CacheMetrics extends Declared {
  readonly #failures = this.counter(
    'moco_rollout_cache_failures_total',
    'Lists and watches that failed and were retried, by kind of object.',
    'kind',
  );
  readonly #ignored = this.counter(
    'moco_rollout_decode_failures_total',
    'Objects, lists and watch events that could not be decoded and were skipped, by kind of object and by reason.',
    'kind',
    'reason',
  );
  readonly #ages = new Map<string, (() => number | null)[]>();

  constructor(registry: Registry) {
    super(registry);
    this.computed(
      'moco_rollout_cache_age_seconds',
      'Time since the API server last sent anything about the kind, bookmarks included; no series before its first list.',
      ['kind'],
      () =>
        [...this.#ages].flatMap(([kind, asked]): readonly Series[] => {
          const known = asked.map((age) => age()).filter((age) => age !== null);
          return known.length === 0 ? [] : [[{ kind }, Math.max(...known)]];
        }),
    );
  }

  /**
   * The functions that one reflector calls. A kind may have several reflectors. `age` is called whenever the metrics
   * are read. It returns the seconds since the API server's last answer, or `null` before the first list.
   */
  observe(kind: string, age: () => number | null) {
    this.#ages.set(kind, [...(this.#ages.get(kind) ?? []), age]);
    this.#failures.inc({ kind }, 0);
    return {
      // Call when a list or a watch has failed. The reflector tries it again.
      failed: (): void => this.#failures.inc({ kind }),
      // Call when something that the API server sent has been skipped.
      ignored: (reason: string): void => this.#ignored.inc({ kind, reason }),
    };
  }
}

/** From 10 ns to 1000 s in powers of ten, as in client-go. */
const bucketsSeconds = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));

/** The metrics of work queues under client-go's names, so that existing dashboards fit. */
export class WorkQueueMetrics extends Declared {
  readonly #depth = this.gauge('workqueue_depth', 'Current depth of workqueue', 'name');
  readonly #adds = this.counter('workqueue_adds_total', 'Adds handled by workqueue', 'name');
  readonly #retries = this.counter('workqueue_retries_total', 'Retries handled by workqueue', 'name');
  readonly #queueDuration = this.histogram(
    'workqueue_queue_duration_seconds',
    'How long a key waits before it is worked on',
    bucketsSeconds,
    'name',
  );
  readonly #workDuration = this.histogram(
    'workqueue_work_duration_seconds',
    'How long a key is worked on',
    bucketsSeconds,
    'name',
  );
  readonly #unfinished = new Map<string, () => readonly number[]>();

  constructor(registry: Registry) {
    super(registry);
    const ofAges = (valueOf: (ages: readonly number[]) => number) => (): readonly Series[] =>
      [...this.#unfinished].map(([name, ages]) => [{ name }, valueOf(ages())]);
    this.computed(
      'workqueue_unfinished_work_seconds',
      'Seconds of work under way that workqueue_work_duration_seconds has not seen yet, summed over workers',
      ['name'],
      ofAges((ages) => ages.reduce((sum, age) => sum + age, 0)),
    );
    this.computed(
      'workqueue_longest_running_processor_seconds',
      'How long the longest running worker has been at its key',
      ['name'],
      ofAges((ages) => Math.max(0, ...ages)),
    );
  }

  /**
   * The functions that one queue calls. `unfinished` is called whenever the metrics are read. It returns how long each
   * unfinished key has been worked on.
   */
  observe(name: string, unfinished: () => readonly number[]) {
    this.#unfinished.set(name, unfinished);
    this.#depth.set({ name }, 0);
    this.#adds.inc({ name }, 0);
    this.#retries.inc({ name }, 0);
    return {
      // Call when a key has been added that was not already waiting.
      added: (depth: number): void => {
        this.#adds.inc({ name });
        this.#depth.set({ name }, depth);
      },
      started: (waitedSeconds: number, depth: number): void => {
        this.#queueDuration.observe({ name }, waitedSeconds);
        this.#depth.set({ name }, depth);
      },
      finished: (workedSeconds: number): void => this.#workDuration.observe({ name }, workedSeconds),
      // Call when a key has been added again because of an error.
      retried: (): void => this.#retries.inc({ name }),
    };
  }
}
