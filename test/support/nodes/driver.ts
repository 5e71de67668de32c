import type { World } from '../../../src/base/world.ts';
import { roleLabel } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';
import { Watching } from '../watching.ts';
import { createClusterObjects } from './cluster-objects.ts';
import { withContainerFault } from './fault-script.ts';
import type { ContainerFault, PodFaults } from './faults.ts';
import { type Databases, Kubelets } from './kubelets.ts';
import { PodLooks } from './pod-looks.ts';
import { defaultSettings, type NodesSettings } from './settings.ts';
import { Volumes } from './volumes.ts';

export interface NodesOptions {
  readonly client: ObjectClient;
  readonly world: World;
  /** Over those of `defaultSettings`. */
  readonly settings?: Partial<NodesSettings>;
  /** Without it every mysqld serves as soon as it has started. */
  readonly databases?: Databases;
  /** The second byte of the pods' loopback addresses; default 0. */
  readonly network?: number;
}

/** Makes nodes and a storage class, then plays scheduler, kubelets and volumes. Resolves once it has seen every pod. */
export async function startNodes(options: NodesOptions): Promise<Nodes> {
  await createClusterObjects(options.client, options.world.wall());
  const nodes = new Nodes(options);
  await nodes.start();
  return nodes;
}

/**
 * The running stand-in for scheduler, kubelets and volumes. Injected faults belong to the current pod of a name, and
 * end with it; faults that come with an image are in `faults.ts`.
 */
export class Nodes {
  readonly #settings: NodesSettings;
  readonly #settingsOf = new Map<string, Partial<NodesSettings>>();
  readonly #looks = new PodLooks();
  readonly #kubelets: Kubelets;
  readonly #volumes: Volumes;
  readonly #watching: Watching;

  constructor({ client, world, settings, databases, network = 0 }: NodesOptions) {
    // If MOCO configures MySQL, the role label comes last, and no pod is ready before.
    const labelBeforeReady = databases === undefined ? null : roleLabel;
    this.#settings = { ...defaultSettings, labelBeforeReady, ...settings };
    const access = { client, world };
    this.#watching = new Watching(access);
    const options = {
      access,
      looks: this.#looks,
      settingsOf: (namespace: string) => ({ ...this.#settings, ...this.#settingsOf.get(namespace) }),
      databases: databases ?? null,
      network,
    };
    this.#kubelets = new Kubelets(options, this.#watching);
    this.#volumes = new Volumes(access, this.#watching);
  }

  /** Once, by {@link startNodes}. */
  start(): Promise<void> {
    return this.#watching.start();
  }

  /** Sets durations in one namespace from now on; omitted ones stay. */
  configure(namespace: string, settings: Partial<NodesSettings>): void {
    this.#settingsOf.set(namespace, { ...this.#settingsOf.get(namespace), ...settings });
    this.#kubelets.checkAll(namespace);
  }

  containerFault(namespace: string, pod: string, container: string, fault: ContainerFault): void {
    this.#fault(namespace, pod, withContainerFault(container, fault));
  }

  /** No node accepts a pod of this name, present or future. */
  neverSchedule(namespace: string, pod: string): void {
    this.#looks.faults.change(namespace, pod, null, (faults) => ({ ...faults, neverScheduled: true }));
    this.#kubelets.look(namespace, pod);
  }

  /** Removes every injected fault. A container in back-off starts at once. */
  heal(namespace: string, pod: string): void {
    this.#looks.faults.heal(namespace, pod);
    this.#kubelets.look(namespace, pod);
  }

  async stop(): Promise<void> {
    await this.#watching.stop();
    await Promise.all([this.#kubelets.stop(), this.#volumes.stop()]);
  }

  #fault(namespace: string, name: string, change: (faults: PodFaults) => PodFaults): void {
    const uid = this.#kubelets.uidOf(namespace, name);
    if (uid === undefined) {
      throw new Error(`Expected a pod ${namespace}/${name} to give a fault to, found none`);
    }
    this.#looks.faults.change(namespace, name, uid, change);
    this.#kubelets.look(namespace, name);
  }
}
