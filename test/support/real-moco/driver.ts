import type { World } from '../../../src/base/world.ts';
import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { MocoStandIn } from '../moco/driver.ts';
import type { Faults } from '../moco/faults.ts';
import type { Pod } from '../moco/objects.ts';
import type { ObjectClient } from '../object-client.ts';
import { freeNetwork } from './free-network.ts';
import { installMocoController, type MocoController, type MocoControllerOptions } from './moco-controller.ts';
import { MysqlServers } from './mysql-servers.ts';

const checkInterval = '3s';

export interface RealMocoOptions extends Omit<MocoControllerOptions, 'flags'> {
  readonly client: ObjectClient;
  readonly world: World;
}

/** Installs MOCO from its own manifests and starts moco-controller; resolves once it leads and its webhooks answer. */
export async function startRealMoco(options: RealMocoOptions): Promise<RealMoco> {
  // The default is a minute: the delay for changes without an event of Kubernetes.
  const controller = await installMocoController({ ...options, flags: [`--check-interval=${checkInterval}`] });
  const servers = new MysqlServers(options.client, options.world);
  await servers.start();
  const moco = new RealMoco(controller, servers, await freeNetwork());
  try {
    await moco.resume();
  } catch (error) {
    await moco.stop();
    throw error;
  }
  return moco;
}

/** moco-controller itself. The databases that it talks to have no data and never clone. */
export class RealMoco implements MocoStandIn {
  readonly #controller: MocoController;
  readonly #servers: MysqlServers;
  /** The second byte of the addresses that pods have to have. */
  readonly network: number;

  constructor(controller: MocoController, servers: MysqlServers, network: number) {
    this.#controller = controller;
    this.#servers = servers;
    this.network = network;
  }

  mysqldReady(pod: Pod): boolean {
    const { namespace, labels } = pod.metadata;
    return this.#servers.of(namespace, labels?.[clusterNameLabel] ?? '').isServing(pod);
  }

  acceptsCommits(namespace: string, clusterName: string): boolean {
    return this.#servers.of(namespace, clusterName).acceptsCommits();
  }

  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void {
    return this.#servers.onChange(callback);
  }

  /** Those that are MySQL's: lag, errant transactions, members out of reach, a candidate that never catches up. */
  setFaults(namespace: string, clusterName: string, faults: Partial<Faults>): void {
    const { nextPrimary, cloneHangs, statusLagMilliseconds, switchover } = faults;
    if ((nextPrimary ?? null) !== null || cloneHangs || statusLagMilliseconds || switchover === 'ignored') {
      throw new Error(
        `Expected faults of MySQL, got one that moco-controller itself would have to have: ${JSON.stringify(faults)}`,
      );
    }
    this.#servers.setFaults(namespace, clusterName, faults);
  }

  /** Ends moco-controller at once, its webhooks too. */
  pause(): Promise<void> {
    return this.#controller.kill();
  }

  /** Starts it again. Resolves once it leads and its webhooks answer. */
  resume(): Promise<void> {
    return this.#controller.start();
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.#servers.stop();
  }

  get log(): string {
    return this.#controller.log;
  }

  /** Of moco-controller; 0 while it is paused. */
  get pid(): number {
    return this.#controller.pid ?? 0;
  }
}
