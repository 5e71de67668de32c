import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cluster } from '../../support/cluster/cluster.ts';
import type { CheckedMember } from './check-rows.ts';
import type { LoadResult, Start, Stop } from './in-network.ts';
import { passwordsOf } from './session.ts';

const program = fileURLToPath(new URL('in-network.ts', import.meta.url));

export interface ClusterLoadOptions {
  readonly namespace: string;
  /** Of a MySQLCluster whose members are at least being made. */
  readonly name: string;
  /** How many clients write at a time. Half of them connect anew for each row. */
  readonly writers: number;
}

/** Writers in the network of a cluster, which go through the real Service of a MySQLCluster's primary. */
export class ClusterLoad {
  readonly #cluster: Cluster;
  readonly #options: ClusterLoadOptions;
  readonly #process: ChildProcess;

  private constructor(cluster: Cluster, options: ClusterLoadOptions) {
    this.#cluster = cluster;
    this.#options = options;
    const [command, ...flags] = cluster.network;
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    this.#process = spawn(command, [...flags, process.execPath, program], { stdio: [...stdio] });
  }

  /** Resolves once the first row is acknowledged. */
  static async start(cluster: Cluster, options: ClusterLoadOptions): Promise<ClusterLoad> {
    const { namespace, name, writers } = options;
    const get = async <T>(...what: readonly string[]): Promise<T> =>
      JSON.parse(await cluster.kubectl('get', '--namespace', namespace, '--output=json', ...what)) as T;
    const service = await get<{ spec: { clusterIP: string } }>('service', `moco-${name}-primary`);
    const secret = await get<{ data: Readonly<Record<string, string>> }>('secret', `moco-${name}`);
    const load = new ClusterLoad(cluster, options);
    const order: Start = {
      kind: 'start',
      service: service.spec.clusterIP,
      passwords: passwordsOf(secret.data, `${namespace}/moco-${name}`),
      writers,
      freshWriters: Math.floor(writers / 2),
    };
    await load.#ask(order);
    return load;
  }

  /** Stops writing and looks for every acknowledged row on every member. */
  async stop(): Promise<LoadResult> {
    const { namespace, name } = this.#options;
    const selector = `--selector=app.kubernetes.io/created-by=moco,app.kubernetes.io/instance=${name}`;
    const path = `jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{"\\n"}{end}`;
    const lines = await this.#cluster.kubectl('get', 'pods', '--namespace', namespace, selector, `--output=${path}`);
    const members = lines
      .trim()
      .split('\n')
      .map((line): CheckedMember => {
        const [pod = '', address = ''] = line.split(' ');
        return { name: pod, address };
      });
    const { result } = (await this.#ask({ kind: 'stop', members })) as { result: LoadResult };
    this.kill();
    return result;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  async #ask(order: Start | Stop): Promise<unknown> {
    const ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`Expected the load to go on, it ended with exit code ${code}`);
    });
    const answer = once(this.#process, 'message');
    this.#process.send(order);
    const [message] = (await Promise.race([answer, ended])) as unknown[];
    ended.catch(() => undefined);
    return message;
  }
}
