import { Worker } from 'node:worker_threads';
import type { Mutant, Result } from './mutant.ts';
import type { Answer, WorkerData } from './worker.ts';

// Runs the tests for each mutant in threads.

/** Loaded modules are never released, so a thread is replaced after this many mutants. */
const mutantsPerThread = 60;

export interface Limits {
  readonly parallel: number;
  /** The time limit for one mutant: an endless loop counts as detected. */
  readonly timeoutMilliseconds: number;
}

/** One thread and its requests; it starts when it is first needed. */
class TestThread {
  readonly #data: WorkerData;
  #worker: Worker | null = null;
  #asked = 0;

  constructor(data: WorkerData) {
    this.#data = data;
  }

  async ask(mutant: Mutant | null, timeoutMilliseconds: number): Promise<Answer | 'timeout'> {
    if (this.#asked >= mutantsPerThread) await this.close();
    this.#asked++;
    this.#worker ??= new Worker(new URL('./worker.ts', import.meta.url), { workerData: this.#data, stdout: false });
    const worker = this.#worker;
    const answer = await new Promise<Answer | 'timeout'>((resolve) => {
      const timer = setTimeout(() => resolve('timeout'), timeoutMilliseconds);
      const end = (given: Answer): void => {
        clearTimeout(timer);
        resolve(given);
      };
      worker.once('message', end);
      worker.once('error', (error) => end({ by: `the thread died: ${error.message}` }));
      worker.postMessage(mutant);
    });
    worker.removeAllListeners('message').removeAllListeners('error');
    // A thread that hangs or has died gets no other mutant.
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

/** Runs the tests unchanged: returns which one fails, and how long they take. */
export async function runUnchanged(data: WorkerData): Promise<{ failed: string | null; milliseconds: number }> {
  const thread = new TestThread(data);
  const before = performance.now();
  const answer = await thread.ask(null, 600_000);
  await thread.close();
  return {
    failed: answer === 'timeout' ? 'they never came to an end' : answer.by,
    milliseconds: performance.now() - before,
  };
}

export async function runMutants(
  mutants: readonly Mutant[],
  data: WorkerData,
  { parallel, timeoutMilliseconds }: Limits,
  onResult: (result: Result, done: number) => void,
): Promise<readonly Result[]> {
  const results: (Result | undefined)[] = mutants.map(() => undefined);
  const queue = mutants.entries();
  let done = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      const thread = new TestThread(data);
      for (const [index, mutant] of queue) {
        const answer = await thread.ask(mutant, timeoutMilliseconds);
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
