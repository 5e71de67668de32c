import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Answer, Failure, FileResult, Order, WorkerSettings } from './messages.ts';

// A worker process of the test runner, as the runner sees it.

const program = fileURLToPath(new URL('worker.ts', import.meta.url));

/** A third of the processor's time beside a process that doesn't yield: its own deadlines hold as well. */
const yieldingNiceness = 5;

/**
 * A process that runs test files one after the other. With an output file, everything that it and its children print
 * goes there; without one it prints directly.
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

  /** Leaves the processor to processes that need it. */
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

  /** Closes what its files share, and waits until the process has ended. Returns what failed. */
  async end(): Promise<readonly Failure[]> {
    const answer = await this.#ask({ kind: 'end' });
    const failures = answer?.kind === 'ended' ? answer.failures : [];
    const code = await this.#exited;
    if (code === 0) return failures;
    return [...failures, { title: 'a process of tests ends', text: `it ended with exit code ${code}: see its output` }];
  }

  /** What has been printed since the last call. */
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

  /** The answer, or `null` if the process ends before it. */
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
