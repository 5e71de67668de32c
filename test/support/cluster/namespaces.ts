import { execFile } from 'node:child_process';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Guard } from '../control-plane/guard.ts';
import { SupervisedProcess } from '../control-plane/supervised-process.ts';
import { until } from '../control-plane/until.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('namespaces.sh', import.meta.url));
const outputBytes = 64 * 1024 * 1024;
/** Whoever starts a process this way takes it along, however it ends itself. */
const endsWithItsParent = ['setpriv', '--pdeathsig', 'KILL'] as const;

export interface NamespacesOptions {
  /** Absolute. What the machine keeps while it is off. */
  readonly directory: string;
  readonly hostname: string;
  /** An address, which knows the names of Services. */
  readonly nameServer: string;
  readonly guard: Guard;
}

/** Namespaces that are a machine of their own. They and everything in them end with their first process. */
export class Namespaces {
  readonly #first: SupervisedProcess;
  /** Of the first process, as this machine counts. */
  readonly pid: number;
  readonly #options: NamespacesOptions;

  private constructor(options: NamespacesOptions, first: SupervisedProcess, pid: number) {
    this.#options = options;
    this.#first = first;
    this.pid = pid;
  }

  static async open(options: NamespacesOptions): Promise<Namespaces> {
    const { directory, hostname, nameServer, guard } = options;
    await mkdir(directory, { recursive: true });
    const pidFile = join(directory, 'pid');
    await rm(pidFile, { force: true });
    await writeFile(join(directory, 'resolv.conf'), `nameserver ${nameServer}\n`);
    const kinds = ['--pid', '--fork', '--mount', '--net', '--uts', '--ipc'];
    const unshare = ['unshare', '--kill-child=KILL', '--propagation=private', ...kinds];
    const [command, ...flags] = [...endsWithItsParent, ...unshare, script, directory, hostname];
    const logFile = join(directory, 'namespaces.log');
    const first = new SupervisedProcess({ name: `the namespaces of ${hostname}`, command, flags, logFile, guard });
    const pid = await until(
      `${hostname} starts`,
      async () => {
        if (first.ended !== null) throw new Error(first.explain(`${hostname} did not start (${first.ended})`));
        return Number(await readFile(pidFile, 'utf8').catch(() => '')) || undefined;
      },
      { got: () => first.explain('no process') },
    );
    return new Namespaces(options, first, pid);
  }

  /** Its network alone, and everything else of this machine. */
  get network(): readonly [string, ...string[]] {
    return ['nsenter', `--target=${this.pid}`, '--net', '--'];
  }

  /** A server in them, which is killed with the process that {@link SupervisedProcess} knows. */
  start(
    name: string,
    command: string,
    flags: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): SupervisedProcess {
    const { directory, guard } = this.#options;
    const [program, ...enter] = [...this.#all, ...endsWithItsParent, command];
    return new SupervisedProcess({
      name,
      command: program,
      flags: [...enter, ...flags],
      logFile: join(directory, `${name}.log`),
      guard,
      environment: { ...process.env, ...environment },
    });
  }

  /** A program in them that ends by itself. Resolves to its standard output; throws with its standard error. */
  run(command: string, ...flags: readonly string[]): Promise<string> {
    return this.#run([...this.#all, command, ...flags]);
  }

  /** {@link run} in the network alone. */
  runInNetwork(command: string, ...flags: readonly string[]): Promise<string> {
    return this.#run([...this.network, command, ...flags]);
  }

  /** At once, as if power failed. */
  async close(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    // It is there until everything in its namespaces has ended.
    const isOff = (): Promise<boolean> =>
      access(`/proc/${this.pid}`).then(
        () => false,
        () => true,
      );
    await until(`${this.#options.hostname} is off`, isOff);
    await this.#first.stop();
  }

  get #all(): readonly [string, ...string[]] {
    return ['nsenter', `--target=${this.pid}`, '--pid', '--mount', '--net', '--uts', '--ipc', '--'];
  }

  async #run([program, ...flags]: readonly [string, ...string[]]): Promise<string> {
    try {
      return (await run(program, flags, { maxBuffer: outputBytes })).stdout;
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string };
      const line = flags.slice(flags.indexOf('--') + 1).join(' ');
      throw new Error(`${line} failed in ${this.#options.hostname}: ${stderr.trim() || message}`, { cause: error });
    }
  }
}
