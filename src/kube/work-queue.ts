import PQueue from 'p-queue';
import { backoffMilliseconds, delay } from '../base/delay.ts';
import type { World } from '../base/world.ts';
import { ApiError } from './api-error.ts';
import { Turns } from './turns.ts';

// The queue of keys to reconcile. A key waits at most once and never runs twice at the same time.
//
// add ---> waiting (tenants take turns) ---> running ---> done ^            ^                               |
// |            +---- added while it ran -------+ +------------------ failed: after a backoff -+

const retryBackoff = { firstMilliseconds: 100, longestMilliseconds: 60_000 };
/** When more keys than this wait, each run starts in its own iteration of the event loop. */
const crowd = 16;
/** The share of the workers that the keys of one tenant may use, rounded up. */
const mostOfOneTenant = 0.5;
/** How long aborted runs may take to end. */
const abortGraceMilliseconds = 1_000;

/** The result of a run: when to process the key again even if nothing changes. */
export interface RunResult {
  readonly requeueAfterMilliseconds?: number;
}

/** Receives measurements of one queue. Times are in seconds. */
export interface WorkQueueObserver {
  added(depth: number): void;
  started(waitedSeconds: number, depth: number): void;
  finished(workedSeconds: number): void;
  retried(): void;
}

export interface WorkQueueOptions {
  readonly name: string;
  readonly world: World;
  readonly concurrency: number;
  /**
   * Returns the tenant of a key. Tenants take turns, and each tenant may use at most half of the workers, rounded up,
   * so that keys with long runs do not block other tenants. Without this function, all keys belong to one tenant, which
   * may use all workers.
   */
  readonly tenantOf?: (key: string) => string;
  /**
   * Processes a key. If the promise resolves, the key is done, and its earlier failures are forgotten. If the promise
   * rejects, the key is retried with backoff.
   */
  readonly process: (key: string, signal: AbortSignal) => Promise<RunResult | void>;
  readonly onError: (key: string, error: unknown, retries: number) => void;
  readonly metrics?: {
    /** `unfinished` returns, for each running key, how many seconds its run has lasted so far. */
    observe(name: string, unfinished: () => readonly number[]): WorkQueueObserver;
  };
}

interface Planned {
  readonly dueMilliseconds: number;
  readonly cancel: () => void;
}

/**
 * The keys to process, with the semantics of client-go's workqueue: a key waits at most once and is never processed
 * twice at the same time. If a key is added while it is being processed, it is processed once more afterwards. p-queue
 * is the pool of workers.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #pool: PQueue;
  readonly #abort = new AbortController();
  readonly #observer: WorkQueueObserver | undefined;
  /**
   * The keys that workers process next. The pool contains one task for each waiting key, but a task is not bound to a
   * key: it processes the next key in turn.
   */
  readonly #turns: Turns;
  /** The number of current runs of each tenant. */
  readonly #runsOf = new Map<string, number>();
  /** The number of tasks that found only keys of tenants that already use their share of the workers. */
  #idleTasks = 0;
  /** Waiting keys, with the time since when each has waited. */
  readonly #dirty = new Map<string, number>();
  /** Keys in progress, with the time at which each run began. */
  readonly #processing = new Map<string, number>();
  readonly #planned = new Map<string, Planned>();
  readonly #failures = new Map<string, number>();
  #draining = false;

  constructor(options: WorkQueueOptions) {
    const { name, world, concurrency, metrics } = options;
    this.#options = options;
    this.#pool = new PQueue({ concurrency, autoStart: false });
    this.#turns = new Turns((key) => this.#tenantOf(key));
    this.#observer = metrics?.observe(name, () =>
      [...this.#processing.values()].map((since) => (world.monotonic() - since) / 1000),
    );
  }

  /** How many keys wait for a worker. Keys in progress and delayed keys do not count. */
  get depth(): number {
    return this.#turns.size;
  }

  /** Processes the key as soon as a worker is free. Has no effect if the key is already waiting, or after `drain`. */
  add(key: string): void {
    if (this.#draining || this.#dirty.has(key)) return;
    this.#dirty.set(key, this.#options.world.monotonic());
    const waits = !this.#processing.has(key);
    this.#observer?.added(this.depth + (waits ? 1 : 0));
    if (waits) this.#enqueue(key);
  }

  /** Like `add`, but after a delay. If a key is added several times, it is processed at the earliest of these times. */
  addAfter(key: string, milliseconds: number): void {
    if (this.#draining) return;
    if (!(milliseconds > 0)) {
      this.add(key);
      return;
    }
    const { world } = this.#options;
    const dueMilliseconds = world.monotonic() + milliseconds;
    const planned = this.#planned.get(key);
    if (planned && planned.dueMilliseconds <= dueMilliseconds) return;
    planned?.cancel();
    const cancel = world.timer(milliseconds, () => {
      this.#planned.delete(key);
      this.add(key);
    });
    this.#planned.set(key, { dueMilliseconds, cancel });
  }

  /** Starts the workers. Keys that were added earlier wait until then. */
  start(): void {
    if (!this.#draining) this.#pool.start();
  }

  /**
   * Starts no more runs, drops waiting keys, and resolves once the current runs have ended. Runs that outlast the grace
   * period are aborted.
   */
  async drain(graceMilliseconds: number): Promise<void> {
    this.#draining = true;
    for (const { cancel } of this.#planned.values()) cancel();
    this.#planned.clear();
    this.#pool.pause();
    this.#pool.clear();
    this.#turns.clear();
    this.#dirty.clear();
    await this.#ended(graceMilliseconds);
    this.#abort.abort();
    await this.#ended(abortGraceMilliseconds);
  }

  async #ended(patienceMilliseconds: number): Promise<void> {
    if (this.#pool.pending === 0) return;
    const enough = new AbortController();
    await Promise.race([this.#pool.onPendingZero(), delay(this.#options.world, patienceMilliseconds, enough.signal)]);
    enough.abort();
  }

  #enqueue(key: string): void {
    this.#turns.add(key);
    this.#addTask();
  }

  #addTask(): void {
    // A failing log or metric must not stop the queue, and `drain` also makes waiting tasks reject, so rejections are
    // ignored.
    this.#pool.add(() => this.#runNext()).catch(() => {});
  }

  #tenantOf(key: string): string {
    return this.#options.tenantOf?.(key) ?? '';
  }

  #mayRun(tenant: string): boolean {
    const { concurrency, tenantOf } = this.#options;
    const most = tenantOf === undefined ? concurrency : Math.ceil(concurrency * mostOfOneTenant);
    return (this.#runsOf.get(tenant) ?? 0) < most;
  }

  async #runNext(): Promise<void> {
    // Runs outside the caller's stack, because the change that added the key may be one of many that belong together.
    await Promise.resolve();
    // Without a pause, a thousand consecutive runs without I/O would block the event loop for a second.
    if (this.#pool.size >= crowd) await delay(this.#options.world, 0);
    const key = this.#turns.next((tenant) => this.#mayRun(tenant));
    if (key === null) {
      this.#idleTasks += 1;
      return;
    }
    const tenant = this.#tenantOf(key);
    this.#runsOf.set(tenant, (this.#runsOf.get(tenant) ?? 0) + 1);
    try {
      await this.#run(key);
    } finally {
      const runs = (this.#runsOf.get(tenant) ?? 0) - 1;
      if (runs > 0) this.#runsOf.set(tenant, runs);
      else this.#runsOf.delete(tenant);
      if (this.#idleTasks > 0 && !this.#draining) {
        this.#idleTasks -= 1;
        this.#addTask();
      }
    }
  }

  async #run(key: string): Promise<void> {
    const { world, process } = this.#options;
    const since = this.#dirty.get(key);
    if (since === undefined) return;
    const start = world.monotonic();
    this.#dirty.delete(key);
    this.#processing.set(key, start);
    this.#observer?.started((start - since) / 1000, this.depth);
    try {
      const result = await process(key, this.#abort.signal);
      this.#failures.delete(key);
      if (result?.requeueAfterMilliseconds !== undefined) this.addAfter(key, result.requeueAfterMilliseconds);
    } catch (error) {
      this.#failed(key, error);
    } finally {
      this.#processing.delete(key);
      this.#observer?.finished((world.monotonic() - start) / 1000);
      if (this.#dirty.has(key)) this.#enqueue(key);
    }
  }

  #failed(key: string, error: unknown): void {
    if (this.#draining) return;
    const { world, onError } = this.#options;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const askedMilliseconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    this.addAfter(key, Math.max(askedMilliseconds, backoffMilliseconds(failures, retryBackoff, world.random())));
    this.#observer?.retried();
    onError(key, error, failures - 1);
  }
}
