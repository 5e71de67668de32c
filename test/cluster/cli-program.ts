import { type ChildProcess, spawn } from 'node:child_process';
import { runCli } from '../../src/cli/run.ts';
import { programs } from '../support/programs.ts';

export interface Ended {
  /** `null` where a signal ended it. */
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command line as a process of its own, as a user starts it, or as a Job does from the controller's image. */
export class CliProcess {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  #out = '';
  #err = '';

  /** Standard output until now. */
  get out(): string {
    return this.#out;
  }

  constructor(kubeconfig: string, argv: readonly string[], program: keyof typeof programs = 'plugin') {
    this.process = spawn(process.execPath, [programs[program], ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, KUBECONFIG: kubeconfig },
    });
    this.process.stdout?.on('data', (chunk: Buffer) => {
      this.#out += chunk.toString();
    });
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.#err += chunk.toString();
    });
    this.ended = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('close', (status) => resolve({ status, out: this.#out, err: this.#err }));
    });
  }
}

/** The command line in this process, where what is tested is not what a process of its own would do. */
export async function cli(kubeconfig: string, argv: readonly string[]): Promise<Ended> {
  let [out, err] = ['', ''];
  const status = await runCli([...argv, `--kubeconfig=${kubeconfig}`], {
    program: 'moco-rollout',
    env: {},
    home: '/nowhere',
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: () => null,
    onInterrupt: () => () => undefined,
    wall: () => Date.now(),
  });
  return { status, out, err };
}

/** The same command line as the controller's image has it, in a process of its own, to its end. */
export function cliOfImage(kubeconfig: string, argv: readonly string[]): Promise<Ended> {
  return new CliProcess(kubeconfig, argv, 'image').ended;
}
