import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** From 10 ns to 1000 s in powers of ten, as client-go has them. */
const bucketsSeconds = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));

/** Observes one work queue. Times are seconds. */
export interface WorkQueueObserver {
  /** A key came in that wasn't waiting already. */
  added(depth: number): void;
  /** A key was handed to a worker. */
  started(waitedSeconds: number, depth: number): void;
  /** Its worker is done with it. */
  finished(workedSeconds: number): void;
  /** A key was put back because of an error. */
  retried(): void;
}

/** How long each key has been worked on, in seconds. */
export type Unfinished = () => readonly number[];

/** The metrics of work queues under the names that client-go gives them, so that dashboards made for it fit. */
export class WorkQueueMetrics {
  readonly #depth: Gauge<'name'>;
  readonly #adds: Counter<'name'>;
  readonly #retries: Counter<'name'>;
  readonly #queueDuration: Histogram<'name'>;
  readonly #workDuration: Histogram<'name'>;
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(registry: Registry) {
    const common = { labelNames: ['name' as const], registers: [registry] };
    const unfinished = this.#unfinished;
    this.#depth = new Gauge({ ...common, name: 'workqueue_depth', help: 'Current depth of workqueue' });
    this.#adds = new Counter({ ...common, name: 'workqueue_adds_total', help: 'Adds handled by workqueue' });
    this.#retries = new Counter({ ...common, name: 'workqueue_retries_total', help: 'Retries handled by workqueue' });
    this.#queueDuration = new Histogram({
      ...common,
      name: 'workqueue_queue_duration_seconds',
      help: 'How long a key waits before it is worked on',
      buckets: bucketsSeconds,
    });
    this.#workDuration = new Histogram({
      ...common,
      name: 'workqueue_work_duration_seconds',
      help: 'How long a key is worked on',
      buckets: bucketsSeconds,
    });
    registry.registerMetric(
      new Gauge({
        labelNames: common.labelNames,
        registers: [],
        name: 'workqueue_unfinished_work_seconds',
        help: 'Seconds of work under way that workqueue_work_duration_seconds has not seen yet, summed over workers',
        collect() {
          for (const [name, ages] of unfinished)
            this.set(
              { name },
              ages().reduce((sum, age) => sum + age, 0),
            );
        },
      }),
    );
    registry.registerMetric(
      new Gauge({
        labelNames: common.labelNames,
        registers: [],
        name: 'workqueue_longest_running_processor_seconds',
        help: 'How long the longest running worker has been at its key',
        collect() {
          for (const [name, ages] of unfinished) this.set({ name }, Math.max(0, ...ages()));
        },
      }),
    );
  }

  /** For one queue. `unfinished` is called whenever the metrics are read. */
  observe(name: string, unfinished: Unfinished): WorkQueueObserver {
    this.#unfinished.set(name, unfinished);
    this.#depth.set({ name }, 0);
    this.#adds.inc({ name }, 0);
    this.#retries.inc({ name }, 0);
    return {
      added: (depth) => {
        this.#adds.inc({ name });
        this.#depth.set({ name }, depth);
      },
      started: (waitedSeconds, depth) => {
        this.#queueDuration.observe({ name }, waitedSeconds);
        this.#depth.set({ name }, depth);
      },
      finished: (workedSeconds) => this.#workDuration.observe({ name }, workedSeconds),
      retried: () => this.#retries.inc({ name }),
    };
  }
}
