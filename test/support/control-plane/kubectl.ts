import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { patienceMilliseconds } from '../patience.ts';

const run = promisify(execFile);
const outputBytes = 64 * 1024 * 1024;
/**
 * An API server that has just started writes its OpenAPI documents when kubectl first asks for them. On a busy machine
 * neither kubectl, which gives up after 32 s, nor the API server, after a minute, waits for that. The next try finds
 * them written.
 */
const openApiNotWritten =
  /error validating data: .*(Client\.Timeout exceeded|context deadline exceeded|in the time allotted)/;

/** kubectl with a kubeconfig, and nothing of a person's own. */
export class Kubectl {
  readonly #program: string;
  readonly #kubeconfig: string;

  /** Paths. The kubeconfig's directory is kubectl's home. */
  constructor(program: string, kubeconfig: string) {
    this.#program = program;
    this.#kubeconfig = kubeconfig;
  }

  /** Resolves to its standard output; throws with its standard error. */
  async run(...flags: readonly string[]): Promise<string> {
    try {
      const { stdout } = await run(this.#program, ['--kubeconfig', this.#kubeconfig, ...flags], {
        maxBuffer: outputBytes,
        env: { ...process.env, HOME: dirname(this.#kubeconfig), KUBECONFIG: this.#kubeconfig },
      });
      return stdout;
    } catch (error) {
      const output = (error as { stderr?: string }).stderr ?? String(error);
      throw new Error(`kubectl ${flags.join(' ')} failed: ${output.trim()}`, { cause: error });
    }
  }

  /** Applies manifests (files or directories) and waits until the API server serves every kind that they define. */
  async apply(...paths: readonly string[]): Promise<void> {
    if (paths.length === 0) {
      return;
    }
    const files = paths.flatMap((path) => ['-f', path]);
    const applied = await this.#applied(files, Date.now() + patienceMilliseconds);
    const definitions = applied.split('\n').filter((name) => name.startsWith('customresourcedefinition'));
    if (definitions.length > 0) await this.#established(definitions);
  }

  /** Tries again until `deadline` while the API server has no OpenAPI documents yet. */
  async #applied(files: readonly string[], deadline: number): Promise<string> {
    for (;;) {
      try {
        return await this.run('apply', '--server-side', '-o', 'name', ...files);
      } catch (error) {
        if (!openApiNotWritten.test(String(error)) || Date.now() > deadline) throw error;
      }
    }
  }

  /** kubectl can't wait for a condition of an object that has no conditions at all yet. */
  async #established(definitions: readonly string[]): Promise<void> {
    for (;;) {
      try {
        await this.run('wait', '--for=condition=Established', '--timeout=60s', ...definitions);
        return;
      } catch (error) {
        if (!String(error).includes('.status.conditions accessor error')) throw error;
      }
    }
  }
}
