import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Guard } from '../../../test/support/control-plane/guard.ts';

// A process under observation: its memory, its processor time and its event loop.

/** Milliseconds between two turns of the event loop. They include the 1 ms of the timer that measures them. */
export interface EventLoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Linux's figures for a process. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
  /** Bytes read since its start, from files and connections. */
  readonly readBytes: number;
}

const ticksPerSecond = 100;
const lastLines = 20;
/** The longest wait. A longer one means that something is wrong, even with a large fleet and a slow machine. */
const patienceMilliseconds = 600_000;
/** Kubernetes' default time between SIGTERM and SIGKILL. */
const graceMilliseconds = 30_000;

/** Processor time of a process since its start, from `/proc` (Linux). */
export function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / ticksPerSecond;
}

/** A Node program under observation: its log, its resource use and its event loop. */
export class MeasuredProcess {
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  /**
   * @param more Node's own flags, then the program and its arguments
   * @param environment is added to the environment of this process
   */
  constructor(more: readonly string[], guard: Guard, environment: Readonly<Record<string, string>> = {}) {
    const probe = new URL('probe.mjs', import.meta.url).pathname;
    this.#process = spawn(process.execPath, ['--import', probe, ...more], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...environment },
      detached: true,
    });
    const { pid, stdout, stderr } = this.#process;
    if (pid === undefined || stdout === null || stderr === null)
      throw new Error('expected a process, but none was started');
    guard.watch(pid);
    for (const stream of [stdout, stderr]) createInterface(stream).on('line', (line) => this.#heard(line));
    this.#process.once('exit', () => {
      guard.forget(pid);
      this.#checkWaiting();
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Rejects when the program ends unexpectedly, with the end of its log. */
  async untilItEnds(): Promise<never> {
    if (!this.#ended) await once(this.#process, 'exit');
    throw new Error(`expected a running program, but it has ended:\n${this.tail}`);
  }

  /** Resolves once `times` lines of the log contain the text. Rejects if the program ends first, or on a timeout. */
  async logged(text: string, times = 1): Promise<void> {
    const overdue = AbortSignal.timeout(patienceMilliseconds);
    overdue.addEventListener('abort', () => this.#checkWaiting());
    // Continues where the last check stopped, because the log of a fleet is long.
    let seen = 0;
    for (let found = 0; ; ) {
      found += this.#lines.slice(seen).filter((line) => line.includes(text)).length;
      seen = this.#lines.length;
      if (found >= times) return;
      if (this.#ended) throw new Error(`expected ${times} lines with "${text}", but the program ended:\n${this.tail}`);
      if (overdue.aborted) {
        throw new Error(
          `expected ${times} lines with "${text}" in ${patienceMilliseconds / 1000} s, got ${found}:\n${this.tail}`,
        );
      }
      await new Promise<void>((resolve) => {
        const check = (): void => {
          this.#waiting.delete(check);
          resolve();
        };
        this.#waiting.add(check);
      });
    }
  }

  /** The last lines of the log. */
  get tail(): string {
    return this.#lines.slice(-lastLines).join('\n');
  }

  /**
   * The delay of the event loop since the start, or since the last call. With `off`, nothing is measured after this
   * call.
   */
  async eventLoopDelay(then: 'on' | 'off' = 'on'): Promise<EventLoopDelay> {
    this.#process.send(then);
    const answer = once(this.#process, 'message') as Promise<[EventLoopDelay]>;
    const [delay] = await Promise.race([answer, this.untilItEnds()]);
    return delay;
  }

  usage(): Usage {
    const status = this.#read('status');
    const bytes = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
    return {
      cpuSeconds: processorSecondsOf(this.pid),
      residentBytes: bytes('VmRSS'),
      peakBytes: bytes('VmHWM'),
      readBytes: Number(/^rchar: (\d+)$/m.exec(this.#read('io'))?.[1]),
    };
  }

  /** Stops the program as a kubelet does. Resolves to the exit status. */
  async stop(): Promise<number | null> {
    if (this.#ended) return this.#process.exitCode;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), graceMilliseconds);
    await exit;
    clearTimeout(kill);
    return this.#process.exitCode;
  }

  get #ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  #read(name: string): string {
    return readFileSync(`/proc/${this.#process.pid}/${name}`, 'utf8');
  }

  #heard(line: string): void {
    this.#lines.push(line);
    this.#checkWaiting();
  }

  #checkWaiting(): void {
    for (const check of this.#waiting) check();
  }
}
