import { isForbidden } from '../../kube/api-error.ts';
import type { Log } from '../../kube/log.ts';

/** What there is to do: the one Secret, reading the webhook configurations, telling whom to trust in them. */
type Task = 'secret' | 'reading' | 'telling';

interface Needed {
  readonly rights: string;
  /** To what. */
  readonly of: string;
}

/** What can't be done at the moment, and why: said when that begins, changes and ends. */
export class Problems {
  readonly #log: Log;
  readonly #needed: Readonly<Record<Task, Needed>>;
  readonly #current: Partial<Record<Task, string>> = {};

  constructor(log: Log, needed: Readonly<Record<Task, Needed>>) {
    this.#log = log;
    this.#needed = needed;
  }

  /** Sentences, as they were logged. */
  get current(): Readonly<Partial<Record<Task, string>>> {
    return this.#current;
  }

  /** `null` where it failed or was aborted. Never rejects. */
  async attempt<T>(task: Task, signal: AbortSignal, work: () => Promise<T>): Promise<{ readonly value: T } | null> {
    try {
      const value = await work();
      if (this.#current[task] !== undefined) {
        delete this.#current[task];
        this.#log.info({}, `can ${this.#describe(task)} again`);
      }
      return { value };
    } catch (error) {
      if (signal.aborted) return null;
      const sentence = this.#sentence(task, error);
      if (this.#current[task] !== sentence) this.#log.warn({ error }, sentence);
      this.#current[task] = sentence;
      return null;
    }
  }

  #sentence(task: Task, error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    if (!isForbidden(error)) return `failed to ${this.#describe(task)}: ${message}`;
    return (
      `--webhook-certificate=self-made takes the right to ${this.#describe(task)}, which config/own-certificate and ` +
      `the chart's certificate.selfMade grant; without them use --webhook-certificate=files: ${message}`
    );
  }

  #describe(task: Task): string {
    const { rights, of } = this.#needed[task];
    return `${rights} ${of}`;
  }
}
