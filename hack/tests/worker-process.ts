import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Answer, Failure, FileResult, Order, WorkerSettings } from './messages.ts';

// A worker process of the test runner, as the runner sees it.

const program = fileURLToPath(new URL('worker.ts', import.meta.url));

/**
 * With this niceness, a process gets a third of the processor time if it competes with a process of normal priority. A
 * third is enough to meet its own deadlines.
 */
const yieldingNiceness = 5;

/**
 * A process that runs test files one after another. With an output file, everything that it and its children print goes
 * there; otherwise they print directly.
 */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #outputFile: string | null;
  #outputRead = 0;

  constructor(settings: WorkerSettings, outputFile: string | null) {
    const output = outputFile === null ? ('inherit' as const) : openSync(outputFile, 'a');
    this.#outputFile = outputFile;
    this.#child = spawn(process.execPath, [program, JSON.stringify(settings)], {
      stdio: ['ignore', output, output, 'ipc'],
    });
    if (typeof output === 'number') closeSync(output);
    this.#exited = once(this.#child, 'exit').then(([code]: number[]) => code ?? null);
  }

  /** Lowers the priority of the process, so that other processes get the processor first. */
  yield(): void {
    if (this.#child.pid !== undefined) setPriority(this.#child.pid, yieldingNiceness);
  }

  get isAlive(): boolean {
    return this.#child.connected;
  }

  async run(file: string): Promise<FileResult> {
    const answer = await this.#ask({ kind: 'run', file });
    if (answer?.kind === 'ran') return answer;
    const text = `the process ended with exit code ${await this.#exited} while it ran ${file}`;
    return { passed: 0, skipped: 0, leftOut: [], failures: [{ title: `${file} ends`, text }] };
  }

  /** Closes what its files share, and waits until the process has ended. Resolves to what failed. */
  async end(): Promise<readonly Failure[]> {
    const answer = await this.#ask({ kind: 'end' });
    const failures = answer?.kind === 'ended' ? answer.failures : [];
    const code = await this.#exited;
    if (code === 0) return failures;
    return [...failures, { title: 'a process of tests ends', text: `it ended with exit code ${code}: see its output` }];
  }

  /** Resolves to what was printed since the last call. */
  async output(): Promise<string> {
    if (this.#outputFile === null) return '';
    const file = await open(this.#outputFile);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read({
        buffer: Buffer.alloc(size - this.#outputRead),
        position: this.#outputRead,
      });
      this.#outputRead += bytesRead;
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Resolves to the answer, or to `null` if the process ends first. */
  #ask(order: Order): Promise<Answer | null> {
    const child = this.#child;
    return new Promise((resolve) => {
      const settle = (answer: Answer | null): void => {
        child.off('message', settle);
        resolve(answer);
      };
      child.on('message', settle);
      void this.#exited.then(() => settle(null));
      if (child.connected) child.send(order, () => undefined);
    });
  }
}
