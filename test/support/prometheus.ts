import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'mocha';
import { leaveOut } from '../left-out.ts';
import { programInPath } from '../program-in-path.ts';
import { Guard } from './control-plane/guard.ts';
import { SupervisedProcess } from './control-plane/supervised-process.ts';

const found = programInPath('prometheus', resolve('.cache/debian'));
const pauseMilliseconds = 50;

/** Prometheus itself, of Debian's package, on 127.0.0.1. It scrapes one address every second. */
export class Prometheus {
  readonly url: string;
  readonly #process: SupervisedProcess;
  readonly #directory: string;
  readonly #guard: Guard;

  private constructor(url: string, process: SupervisedProcess, directory: string, guard: Guard) {
    this.url = url;
    this.#process = process;
    this.#directory = directory;
    this.#guard = guard;
  }

  /** Leaves the tests out on a machine without Prometheus; where CI is `true` that counts as a failure. */
  static async start(test: Context, port: number, target: string): Promise<Prometheus> {
    if (found === undefined) {
      leaveOut(test, 'what Prometheus is asked, since it is not in PATH: run `make debian-packages`');
    }
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-prometheus-'));
    const guard = new Guard();
    guard.remove(directory);
    const jobs = [{ job_name: 'application', honor_labels: true, static_configs: [{ targets: [target] }] }];
    const configuration = { global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: jobs };
    const file = join(directory, 'prometheus.yml');
    await writeFile(file, JSON.stringify(configuration));
    const flags = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      '--log.level=error',
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const logFile = join(directory, 'log');
    const process = new SupervisedProcess({ name: 'Prometheus', command: found, flags, logFile, guard });
    const url = `http://127.0.0.1:${port}`;
    await process.untilReady(async () => (await fetch(`${url}/-/ready`)).ok);
    return new Prometheus(url, process, directory, guard);
  }

  /** Waits until the query returns series, or none. */
  async until(query: string, returnsSeries: boolean): Promise<void> {
    while ((await this.#count(query)) > 0 !== returnsSeries) await delay(pauseMilliseconds);
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#directory, { recursive: true });
    await this.#guard.close();
  }

  async #count(query: string): Promise<number> {
    const response = await fetch(`${this.url}/api/v1/query?${new URLSearchParams({ query }).toString()}`);
    const { data } = (await response.json()) as { readonly data: { readonly result: readonly unknown[] } };
    return data.result.length;
  }
}
