import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Guard } from './guard.ts';

const logTailCharacters = 3000;

export interface ProcessSettings {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
  /** Standard output and standard error, appended. */
  readonly logFile: string;
  readonly guard: Guard;
  /** Over this process's own. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** One server in the background: its output in a file, its exit observed, killed when this program ends. */
export class SupervisedProcess {
  readonly #settings: ProcessSettings;
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  #ended: string | null = null;
  #stopping = false;
  #onUnexpectedEnd: ((explanation: string) => void) | null = null;

  constructor(settings: ProcessSettings) {
    this.#settings = settings;
    const log = openSync(settings.logFile, 'a');
    this.#process = spawn(settings.command, settings.flags, {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...settings.environment },
    });
    closeSync(log);
    const { pid } = this.#process;
    if (pid !== undefined) {
      settings.guard.watch(pid);
    }
    this.#process.unref();
    this.#exited = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#ended ??= how;
        if (pid !== undefined) {
          settings.guard.forget(pid);
        }
        resolve();
        if (!this.#stopping) {
          this.#onUnexpectedEnd?.(this.explain(`${settings.name} ended by itself (${how})`));
        }
      };
      this.#process.once('error', (error) => end(error.message));
      this.#process.once('exit', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));
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

  logTail(): string {
    return readFileSync(this.#settings.logFile, 'utf8').slice(-logTailCharacters);
  }

  explain(sentence: string): string {
    return `${sentence}. The end of its log:\n${this.logTail()}`;
  }

  /** SIGKILL by default: nothing that these servers could save outlives them. Resolves when it has ended. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#stopping = true;
    if (this.#ended === null) {
      this.#process.ref();
      this.#process.kill(signal);
    }
    await this.#exited;
  }
}
