import type { ControllerProcess } from '../../support/stage/controller-process.ts';
import type { Bed } from '../bed.ts';

type Controller = Awaited<ReturnType<Bed['startController']>>;

/** This program on a bed: the process that runs now, and those before it. */
export class Program {
  readonly #bed: Bed;
  readonly #all: Controller[] = [];
  #flags: readonly string[] = [];

  private constructor(bed: Bed) {
    this.#bed = bed;
  }

  static async start(bed: Bed): Promise<Program> {
    const program = new Program(bed);
    await program.start();
    return program;
  }

  /** Resolves once it is ready. */
  async start(): Promise<void> {
    this.#all.push(await this.#bed.startController(this.#flags));
  }

  /** SIGKILL: nothing is cleaned up. */
  async kill(): Promise<void> {
    await this.#all.at(-1)?.stop('SIGKILL');
  }

  async killAndStart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Starts it anew with these flags, and from now on. */
  async restartWith(flags: readonly string[]): Promise<void> {
    this.#flags = flags;
    await this.killAndStart();
  }

  /** What each process has logged so far, the oldest first. */
  get logs(): readonly string[] {
    return this.#all.map(({ log }: ControllerProcess) => log);
  }

  /** What it exposes to Prometheus; empty while it doesn't run. */
  async metrics(): Promise<string> {
    const controller = this.#all.at(-1);
    if (controller === undefined) return '';
    const answer = await fetch(`http://127.0.0.1:${controller.metricsPort}/metrics`).catch(() => null);
    return answer?.ok === true ? answer.text() : '';
  }
}
