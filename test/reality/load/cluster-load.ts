import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Cluster } from '../../support/cluster/cluster.ts';
import type { CheckedMember, MemberRows } from './check-rows.ts';
import type { Answers, Order, Written } from './in-network.ts';
import { passwordsOf } from './session.ts';

const program = fileURLToPath(new URL('in-network.ts', import.meta.url));

export interface ClusterLoadOptions {
  readonly namespace: string;
  /** Of a MySQLCluster whose members are at least being made. */
  readonly name: string;
  /** How many clients write at a time. Half of them connect anew for each row. */
  readonly writers: number;
}

export interface LoadResult extends Written {
  readonly members: readonly MemberRows[];
}

/** Writers in the network of a cluster, which go through the real Service of a MySQLCluster's primary. */
export class ClusterLoad {
  readonly #cluster: Cluster;
  readonly #options: ClusterLoadOptions;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #orders = 0;

  private constructor(cluster: Cluster, options: ClusterLoadOptions) {
    this.#cluster = cluster;
    this.#options = options;
    const [command, ...flags] = cluster.network;
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    this.#process = spawn(command, [...flags, process.execPath, program], { stdio: [...stdio] });
    this.#process.on('message', ({ id, answer, error }: { id: number; answer?: unknown; error?: string }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(error));
    });
    this.#process.once('exit', (code) => {
      for (const { reject } of this.#waiting.values()) {
        reject(new Error(`Expected the load to go on, it ended with exit code ${code}`));
      }
    });
  }

  /** Resolves once the first row is acknowledged. */
  static async start(cluster: Cluster, options: ClusterLoadOptions): Promise<ClusterLoad> {
    const { namespace, name, writers } = options;
    const get = async <T>(...what: readonly string[]): Promise<T> =>
      JSON.parse(await cluster.kubectl('get', '--namespace', namespace, '--output=json', ...what)) as T;
    const service = await get<{ spec: { clusterIP: string } }>('service', `moco-${name}-primary`);
    const secret = await get<{ data: Readonly<Record<string, string>> }>('secret', `moco-${name}`);
    const load = new ClusterLoad(cluster, options);
    await load.#ask({
      kind: 'start',
      service: service.spec.clusterIP,
      passwords: passwordsOf(secret.data, `${namespace}/moco-${name}`),
      writers,
      freshWriters: Math.floor(writers / 2),
    });
    return load;
  }

  /** Resolves once no statement is on its way; the next one comes after {@link resume}. */
  async pause(): Promise<void> {
    await this.#ask({ kind: 'pause' });
  }

  async resume(): Promise<void> {
    await this.#ask({ kind: 'resume' });
  }

  /** How it has gone so far. */
  written(): Promise<Written> {
    return this.#ask({ kind: 'written' });
  }

  /** Looks for every row that is acknowledged by now on every member. Writers may go on. */
  async compare(): Promise<readonly MemberRows[]> {
    return this.#ask({ kind: 'compare', members: await this.#members() });
  }

  /** Stops writing and looks for every acknowledged row on every member. */
  async stop(): Promise<LoadResult> {
    await this.#ask({ kind: 'stop' });
    const result = { ...(await this.written()), members: await this.compare() };
    this.kill();
    return result;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  async #members(): Promise<readonly CheckedMember[]> {
    const { namespace, name } = this.#options;
    const selector = `--selector=app.kubernetes.io/created-by=moco,app.kubernetes.io/instance=${name}`;
    const path = `jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{"\\n"}{end}`;
    const lines = await this.#cluster.kubectl('get', 'pods', '--namespace', namespace, selector, `--output=${path}`);
    return lines
      .trim()
      .split('\n')
      .map((line): CheckedMember => {
        const [pod = '', address = ''] = line.split(' ');
        return { name: pod, address };
      });
  }

  async #ask<Kind extends Order['kind']>(order: Extract<Order, { kind: Kind }>): Promise<Answers[Kind]> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
      throw new Error(`Expected the load to go on before it can ${order.kind}, it has ended`);
    }
    const id = ++this.#orders;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#process.send({ id, order });
    return (await waiting.promise) as Answers[Kind];
  }
}
