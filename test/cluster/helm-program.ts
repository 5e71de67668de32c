import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartDirectory, type Manifest, parseManifests } from '../config/manifests.ts';
import { goTool } from '../support/go-tools/build.ts';

const outputBytes = 16 * 1024 * 1024;

/** As helm is told it by an API server: one that has MutatingAdmissionPolicies, or one that has none. */
export const withPolicies = ['--api-versions', 'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy'];
export const withoutPolicies = ['--kube-version', 'v1.35.4'];

/** The flags for values such as `replicaCount=3`. */
export function set(...values: readonly string[]): readonly string[] {
  return values.flatMap((value) => ['--set', value]);
}

export interface HelmSaid {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** `helm` on the chart, with a home of its own that is removed afterwards. */
export class Helm {
  readonly #program: string;
  readonly #home: string;

  private constructor(program: string, home: string) {
    this.#program = program;
    this.#home = home;
  }

  static async open(): Promise<Helm> {
    return new Helm(await goTool('helm'), await mkdtemp(join(tmpdir(), 'moco-rollout-helm-')));
  }

  run(...args: readonly string[]): Promise<HelmSaid> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.#home };
    return new Promise((resolve) => {
      execFile(this.#program, args, { env, maxBuffer: outputBytes }, (error, out, err) => {
        const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ status, out, err });
      });
    });
  }

  /** What `helm template` makes of the chart, hooks included. Rejects with what helm says against it. */
  async render(namespace: string, ...values: readonly string[]): Promise<readonly Manifest[]> {
    const { status, out, err } = await this.run(
      'template',
      'some',
      chartDirectory,
      '--namespace',
      namespace,
      ...values,
    );
    if (status !== 0) throw new Error(err);
    return parseManifests(out);
  }

  close(): Promise<void> {
    return rm(this.#home, { recursive: true, force: true });
  }
}
