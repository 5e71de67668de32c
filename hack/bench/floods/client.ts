import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a client thread does: probe the program, or flood it. */
export type Task =
  | { readonly kind: 'probe'; readonly port: number }
  | { readonly kind: 'pipeline'; readonly port: number }
  | { readonly kind: 'webhook'; readonly port: number; readonly body: string }
  /** The thread answers instead of asking: it is the agent of a pod. */
  | { readonly kind: 'agent'; readonly body: string };

/** A client in a thread of its own, so that its cost does not count as the program's. */
export class Client {
  readonly #worker: Worker;

  constructor(task: Task) {
    this.#worker = new Worker(new URL('client-thread.ts', import.meta.url), { workerData: task });
  }

  /**
   * The numbers since the last call: the milliseconds of each probe, a number for each request, or the port that is
   * served.
   */
  async taken(): Promise<readonly number[]> {
    this.#worker.postMessage('take');
    const [numbers] = (await once(this.#worker, 'message')) as [readonly number[]];
    return numbers;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
