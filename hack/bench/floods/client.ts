import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a client thread does: it probes the program, or floods it. */
export type Task =
  | { readonly kind: 'probe'; readonly port: number }
  | { readonly kind: 'pipeline'; readonly port: number; readonly secure: boolean }
  | { readonly kind: 'webhook'; readonly port: number; readonly body: string }
  /** The thread does not send requests. It serves them, in place of the agent of a pod. */
  | { readonly kind: 'agent'; readonly body: string };

/** A client in its own thread, so that its cost does not count as the program's. */
export class Client {
  readonly #worker: Worker;

  constructor(task: Task) {
    this.#worker = new Worker(new URL('client-thread.ts', import.meta.url), { workerData: task });
  }

  /**
   * The numbers since the last call: the milliseconds of each probe, one number for each request, or the port that the
   * thread serves.
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
