import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Guard } from './guard.ts';
import { until } from './until.ts';

const logTailCharacters = 3000;

export interface ProcessSettings {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
  /** Standard output and standard error, appended. */
  readonly logFile: string;
  readonly guard: Guard;
  /** All of it; left out: this process's own. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** One server in the background: its output in a file, its exit observed, killed when this program ends. */
export class SupervisedProcess {
  readonly #settings: ProcessSettings;
  readonly #process: ChildProcess;
  readonly #exited: Promise<number | null>;
  #ended: string | null = null;
  #stopping = false;
  #onUnexpectedEnd: ((explanation: string) => void) | null = null;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
    const log = openSync(settings.logFile, 'a');
    this.#process = spawn(settings.command, settings.flags, {
      stdio: ['ignore', log, log],
      detached: true,
      env: settings.environment ?? process.env,
    });
    closeSync(log);
    const { pid } = this.#process;
    if (pid !== undefined) {
      settings.guard.watch(pid);
    }
    this.#process.unref();
    this.#exited = new Promise((resolve) => {
      const end = (how: string, code: number | null): void => {
        this.#ended ??= how;
        if (pid !== undefined) {
          settings.guard.forget(pid);
        }
        resolve(code);
        if (!this.#stopping) {
          this.#onUnexpectedEnd?.(this.explain(`${settings.name} ended by itself (${how})`));
        }
      };
      this.#process.once('error', (error) => end(error.message, null));
      this.#process.once('exit', (code, signal) =>
        end(signal === null ? `exit code ${code}` : `signal ${signal}`, code),
      );
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** How it ended, such as `exit code 1`; `null` while it runs. */
  get ended(): string | null {
    return this.#ended;
  }

  /** From now on `tell` is called when the process ends unexpectedly. */
  watch(tell: (explanation: string) => void): void {
    this.#onUnexpectedEnd = tell;
  }

  /** Its whole output until now. */
  get log(): string {
    return readFileSync(this.#settings.logFile, 'utf8');
  }

  explain(sentence: string): string {
    return `${sentence}. The end of its log:\n${this.log.slice(-logTailCharacters)}`;
  }

  /**
   * Resolves once it is ready, about which it is asked again and again; a rejection is a no. Rejects with the end of its
   * log if it ends before or takes too long.
   */
  async untilReady(isReady: () => Promise<boolean>): Promise<void> {
    const { name } = this.#settings;
    let last = 'no answer';
    await until(
      `${name} is ready`,
      async () => {
        if (this.#ended !== null) throw new Error(this.explain(`${name} ended before it was ready (${this.#ended})`));
        return isReady().catch((error: unknown) => {
          last = error instanceof Error ? error.message : String(error);
          return false;
        });
      },
      { got: () => this.explain(last) },
    );
  }

  /** To a process that runs, such as SIGSTOP and SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /**
   * SIGKILL by default: nothing that these servers could save outlives them. Resolves to the exit code when it has ended;
   * `null` if a signal killed it.
   */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.#stopping = true;
    if (this.#ended === null) {
      this.#process.ref();
      this.#process.kill(signal);
    }
    return this.#exited;
  }
}
