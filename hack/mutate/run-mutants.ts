import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Mutant, Result } from './mutant.ts';
import type { Answer, Question, WorkerData } from './worker.ts';

// Runs the tests for each mutant in threads.

/** A thread is replaced after this many mutants, because loaded modules are never released. */
const mutantsPerThread = 60;

export interface Limits {
  readonly parallel: number;
  /** The time limit for one mutant. An endless loop counts as detected. */
  readonly timeoutMilliseconds: (mutant: Mutant) => number;
  /** No further mutant is started after this many milliseconds. */
  readonly mostMilliseconds: number;
}

/** How a test behaves with the original sources. */
export interface Unchanged {
  readonly failed: string | null;
  readonly milliseconds: number;
}

/** One thread and its requests. It starts when it is first needed. */
class TestThread {
  readonly #data: WorkerData;
  #worker: Worker | null = null;
  #asked = 0;

  constructor(data: WorkerData) {
    this.#data = data;
  }

  async ask(question: Question, timeoutMilliseconds: number): Promise<Answer | 'timeout'> {
    if (this.#asked >= mutantsPerThread) await this.close();
    this.#asked++;
    this.#worker ??= new Worker(new URL('./worker.ts', import.meta.url), { workerData: this.#data, stdout: false });
    const worker = this.#worker;
    const answer = await new Promise<Answer | 'timeout'>((settle) => {
      const timer = setTimeout(() => settle('timeout'), timeoutMilliseconds);
      const end = (given: Answer): void => {
        clearTimeout(timer);
        settle(given);
      };
      worker.once('message', end);
      worker.once('error', (error) => end({ by: `the thread died: ${error.message}` }));
      worker.postMessage(question);
    });
    worker.removeAllListeners('message').removeAllListeners('error');
    // A thread that hangs or has died is not used for another mutant.
    if (answer === 'timeout' || answer.by?.startsWith('the thread died')) await this.close();
    return answer;
  }

  async close(): Promise<void> {
    this.#worker?.on('error', () => {});
    await this.#worker?.terminate();
    this.#worker = null;
    this.#asked = 0;
  }
}

/**
 * Runs each test with the original sources. Resolves to the failure of each test (`null` if it passed) and its
 * duration.
 */
export async function runUnchanged(
  tests: readonly string[],
  data: WorkerData,
): Promise<ReadonlyMap<string, Unchanged>> {
  const thread = new TestThread(data);
  const results = new Map<string, Unchanged>();
  for (const test of tests) {
    const before = performance.now();
    const answer = await thread.ask({ mutant: null, tests: [resolve(test)] }, 600_000);
    const failed = answer === 'timeout' ? 'it did not end in time' : answer.by;
    results.set(test, { failed, milliseconds: performance.now() - before });
  }
  await thread.close();
  return results;
}

export async function runMutants(
  mutants: readonly Mutant[],
  testsOf: (mutant: Mutant) => readonly string[],
  data: WorkerData,
  { parallel, timeoutMilliseconds, mostMilliseconds }: Limits,
  onResult: (result: Result, done: number) => void,
): Promise<readonly Result[]> {
  const results: (Result | undefined)[] = mutants.map(() => undefined);
  const queue = mutants.entries();
  const began = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      const thread = new TestThread(data);
      for (const [index, mutant] of queue) {
        if (performance.now() - began > mostMilliseconds) break;
        const answer = await thread.ask({ mutant, tests: testsOf(mutant) }, timeoutMilliseconds(mutant));
        const result: Result =
          answer === 'timeout'
            ? { mutant, verdict: 'timeout', by: null }
            : { mutant, verdict: answer.by === null ? 'survived' : 'killed', by: answer.by };
        results[index] = result;
        onResult(result, ++done);
      }
      await thread.close();
    }),
  );
  return results.filter((result) => result !== undefined);
}
