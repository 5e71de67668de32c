/** How a run of a key ends. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMilliseconds: number }
  | { readonly kind: 'failed'; readonly retryAfterSeconds: number | null };

/** As the queue has them, for a `random` of one half. */
const firstBackoffMilliseconds = 75;
const longestBackoffMilliseconds = 45_000;

/**
 * What a work queue is to be like after everything that happens to it, said as plainly as can be: lists and sets,
 * without a promise, a timer or a pool. Where there is a worker and a key that waits, a run starts.
 */
export class WorkQueueModel {
  readonly runs: string[] = [];
  readonly errors: string[] = [];
  readonly underWay = new Set<string>();
  /** They wait for a worker, the first one longest. */
  readonly waiting: string[] = [];
  /** When a key that is planned becomes due. */
  readonly planned = new Map<string, number>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #concurrency: number;
  #started = false;
  #draining = false;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  get draining(): boolean {
    return this.#draining;
  }

  start(): void {
    this.#started = true;
  }

  add(key: string): void {
    if (this.#draining || this.waiting.includes(key)) return;
    if (this.underWay.has(key)) this.#again.add(key);
    else this.waiting.push(key);
  }

  addAfter(key: string, milliseconds: number, nowMilliseconds: number): void {
    if (this.#draining) return;
    if (milliseconds === 0) this.add(key);
    else this.planned.set(key, Math.min(this.planned.get(key) ?? Infinity, nowMilliseconds + milliseconds));
  }

  /** The time of a plan has come. */
  due(key: string): void {
    this.planned.delete(key);
    this.add(key);
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  ended(key: string, outcome: Outcome, nowMilliseconds: number): void {
    switch (outcome.kind) {
      case 'done':
        this.#failures.delete(key);
        break;
      case 'again':
        this.#failures.delete(key);
        this.addAfter(key, outcome.afterMilliseconds, nowMilliseconds);
        break;
      case 'failed':
        this.#failed(key, outcome.retryAfterSeconds, nowMilliseconds);
        break;
    }
    this.underWay.delete(key);
    if (this.#again.delete(key)) this.waiting.push(key);
  }

  drain(): void {
    this.#draining = true;
    this.waiting.length = 0;
    this.planned.clear();
    this.#again.clear();
  }

  /** Starts what there is a worker for. */
  settle(): void {
    while (this.#started && this.underWay.size < this.#concurrency) {
      const key = this.waiting.shift();
      if (key === undefined) return;
      this.underWay.add(key);
      this.runs.push(key);
    }
  }

  #failed(key: string, retryAfterSeconds: number | null, nowMilliseconds: number): void {
    if (this.#draining) return;
    const before = this.#failures.get(key) ?? 0;
    this.#failures.set(key, before + 1);
    this.errors.push(`${key} ${before}`);
    const backoffMilliseconds = Math.min(longestBackoffMilliseconds, firstBackoffMilliseconds * 2 ** before);
    this.addAfter(key, Math.max(backoffMilliseconds, (retryAfterSeconds ?? 0) * 1000), nowMilliseconds);
  }
}
