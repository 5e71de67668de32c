import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Guard } from '../control-plane/guard.ts';
import { programs } from '../programs.ts';

/** The controller as a separate process, as it runs in a pod. It inherits the environment by default. */
export class ControllerProcess {
  readonly logFile: string;
  readonly #flags: readonly string[];
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(flags: readonly string[], logFile: string, guard: Guard, environment: NodeJS.ProcessEnv = process.env) {
    this.logFile = logFile;
    this.#flags = flags;
    const log = openSync(logFile, 'a');
    this.#process = spawn(process.execPath, [programs.image, ...flags], {
      stdio: ['ignore', log, log],
      detached: true,
      env: environment,
    });
    closeSync(log);
    const { pid } = this.#process;
    if (pid !== undefined) guard.watch(pid);
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', () => resolve(null));
      this.#process.once('exit', (code) => {
        if (pid !== undefined) guard.forget(pid);
        resolve(code);
      });
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Where it serves metrics on 127.0.0.1. */
  get metricsPort(): number {
    const flag = this.#flags.findLast((candidate) => candidate.startsWith('--metrics-bind-address='));
    return Number(flag?.split(':').at(-1));
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Standard output and standard error until now. */
  get log(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends SIGTERM, as a kubelet does. Resolves to the exit code; `null` if a signal killed it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.running) this.#process.kill(signal);
    return this.#ended;
  }
}
