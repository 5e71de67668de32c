import type { Registry } from 'prom-client';
import { Declared, type Series } from './declared.ts';

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
  readonly #unfinished = new Map<string, Unfinished>();

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
