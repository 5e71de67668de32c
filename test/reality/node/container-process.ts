import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Guard } from '../../support/control-plane/guard.ts';
import type { Bind } from '../image/image.ts';

const script = fileURLToPath(new URL('container.sh', import.meta.url));
/** What MOCO's containers run as. */
export const containerUser = 10_000;
const signalExitCode = 128;
/** A kubelet leaves a container this much after SIGTERM, even where its hook has used up the grace period. */
const leastGraceMilliseconds = 2_000;

export interface ContainerSettings {
  readonly root: string;
  /** An empty directory; it shows the container's files to the container alone. */
  readonly mountPoint: string;
  readonly hostname: string;
  readonly binds: readonly Bind[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where it looks for programs. */
  readonly path: string;
  /** Standard output and standard error, appended. */
  readonly logFile: string;
  readonly guard: Guard;
}

/** The process of one container, in namespaces of its own. */
export class ContainerProcess {
  /** Resolves to the exit code: 128 and the signal's number after a signal. */
  readonly ended: Promise<number>;
  readonly #process: ChildProcess;
  #stopping = false;

  private constructor(process: ChildProcess, guard: Guard) {
    this.#process = process;
    const { pid } = process;
    if (pid !== undefined) guard.watch(pid);
    this.ended = new Promise((resolve) => {
      const end = (code: number): void => {
        if (pid !== undefined) guard.forget(pid);
        resolve(code);
      };
      process.once('error', () => end(signalExitCode));
      process.once('exit', (code, signal) =>
        end(signal === null ? (code ?? signalExitCode) : signalExitCode + constants.signals[signal]),
      );
    });
  }

  static async start(settings: ContainerSettings): Promise<ContainerProcess> {
    const { root, mountPoint, hostname, binds, command, environment, path, logFile, guard } = settings;
    // What lies deeper is mounted later.
    const inOrder = binds.toSorted((one, other) => one.target.length - other.target.length);
    for (const { target } of inOrder) await makeMountPoint(join(root, target));
    const mounts = inOrder.map(({ source, target }) => `${source}:${target}`);
    const log = openSync(logFile, 'a');
    const flags = ['--mount', '--uts', '--propagation', 'private', '/bin/sh', script];
    const child = spawn(
      'unshare',
      [...flags, root, mountPoint, hostname, String(containerUser), path, ...mounts, '--', ...command],
      { stdio: ['ignore', log, log], detached: true, env: { PATH: process.env['PATH'], ...environment } },
    );
    closeSync(log);
    return new ContainerProcess(child, guard);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** As a kubelet stops a container: its preStop hook, SIGTERM, and SIGKILL at the end of the grace period. */
  async stop(graceMilliseconds: number, preStopMilliseconds: number): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const start = performance.now();
    await this.#endsWithin(Math.min(preStopMilliseconds, graceMilliseconds));
    this.#process.kill('SIGTERM');
    const left = graceMilliseconds - (performance.now() - start);
    if (!(await this.#endsWithin(Math.max(left, leastGraceMilliseconds)))) this.kill();
    await this.ended;
  }

  async #endsWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    const ended = await Promise.race([this.ended.then(() => true), overdue]);
    clearTimeout(timer);
    return ended;
  }
}

/** A directory, unless there is a file to mount over. */
async function makeMountPoint(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
