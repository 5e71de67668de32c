import type { Guard } from '../control-plane/guard.ts';
import { SupervisedProcess } from '../control-plane/supervised-process.ts';
import { programs } from '../programs.ts';

/** As in the image (Dockerfile), but for what Node itself keeps of compiled code and of coverage. */
function permissions({ NODE_COMPILE_CACHE: cache, NODE_V8_COVERAGE: coverage }: NodeJS.ProcessEnv): readonly string[] {
  const written = [cache, coverage].filter((one) => one !== undefined);
  return ['--permission', '--allow-fs-read=*', ...written.map((one) => `--allow-fs-write=${one}`)];
}

/** The controller as a separate process, as it runs in a pod. It inherits the environment by default. */
export class ControllerProcess extends SupervisedProcess {
  readonly #flags: readonly string[];

  constructor(flags: readonly string[], logFile: string, guard: Guard, environment: NodeJS.ProcessEnv = process.env) {
    const command = process.execPath;
    super({
      name: 'the controller',
      command,
      flags: [...permissions(environment), programs.image, ...flags],
      logFile,
      guard,
      environment,
    });
    this.#flags = flags;
  }

  /** Where it serves metrics on 127.0.0.1. */
  get metricsPort(): number {
    const flag = this.#flags.findLast((candidate) => candidate.startsWith('--metrics-bind-address='));
    return Number(flag?.split(':').at(-1));
  }

  get running(): boolean {
    return this.ended === null;
  }

  /** Sends SIGTERM, as a kubelet does. Resolves to the exit code; `null` if a signal killed it. */
  override stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    return super.stop(signal);
  }
}
