import { pods } from '../../../src/kube/resource.ts';
import { Store } from '../../../src/kube/store.ts';
import { clusterNameLabel } from '../../../src/moco/names.ts';
import { carryOut } from '../carry-out.ts';
import { Loop } from '../moco/loop.ts';
import type { Access } from '../object-client.ts';
import { type Cached, cached, type Watching } from '../watching.ts';
import { Addresses } from './addresses.ts';
import { nodeNames } from './cluster-objects.ts';
import type { Pod } from './objects.ts';
import { perform } from './perform.ts';
import type { PodLooks } from './pod-looks.ts';
import type { NodesSettings } from './settings.ts';

/** What knows whether MySQL serves: the stand-in for MOCO is one. */
export interface Databases {
  /** What the readiness probe of container mysqld finds in this pod, given that agent and kubelet do their part. */
  mysqldReady(pod: Pod): boolean;
  /** Calls back whenever the answers may have changed. Returns a function that ends it. */
  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void;
}

export interface KubeletsOptions {
  readonly access: Access;
  readonly looks: PodLooks;
  readonly settingsOf: (namespace: string) => NodesSettings;
  /** `null`: every mysqld serves. */
  readonly databases: Databases | null;
  /** The second byte of the pods' addresses. */
  readonly network: number;
}

const byCluster = 'cluster';

/** Runs for every pod on a change or at its own time, and performs the resulting writes. */
export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #pods = new Store<Cached<Pod>>({
    [byCluster]: ({ namespace, object }) => {
      const clusterName = object.metadata.labels?.[clusterNameLabel];
      return clusterName === undefined ? null : `${namespace}/${clusterName}`;
    },
  });
  readonly #loops = new Map<string, Loop>();
  readonly #addresses: Addresses;
  readonly #unsubscribe: (() => void) | undefined;

  constructor(options: KubeletsOptions, watching: Watching) {
    this.#options = options;
    this.#addresses = new Addresses(options.network);
    watching.follow(this.#pods, pods, cached<Pod>);
    this.#pods.subscribe(({ before, after }) => this.#changed(before, after));
    this.#unsubscribe = options.databases?.onDatabasesChange((namespace, clusterName) => {
      for (const { name } of this.#pods.by(byCluster, `${namespace}/${clusterName}`)) {
        this.look(namespace, name);
      }
    });
  }

  /** Of the pod that has this name now. */
  uidOf(namespace: string, name: string): string | undefined {
    return this.#pods.get(namespace, name)?.uid;
  }

  look(namespace: string, name: string): void {
    this.#loopOf(namespace, name).trigger();
  }

  checkAll(namespace: string): void {
    for (const pod of this.#pods.values().filter((candidate) => candidate.namespace === namespace)) {
      this.look(namespace, pod.name);
    }
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()));
  }

  #changed(before: Cached<Pod> | null, after: Cached<Pod> | null): void {
    if (after === null) {
      if (before !== null) {
        this.#options.looks.forget(before.uid);
        this.#addresses.release(before.uid);
      }
      return;
    }
    const given = after.object.status?.podIP;
    if (given !== undefined) {
      this.#addresses.keep(after.uid, given);
    }
    this.look(after.namespace, after.name);
  }

  #loopOf(namespace: string, name: string): Loop {
    const key = `${namespace}/${name}`;
    const { world } = this.#options.access;
    const loop = this.#loops.get(key) ?? new Loop(world, () => this.#look(namespace, name));
    this.#loops.set(key, loop);
    return loop;
  }

  async #look(namespace: string, name: string): Promise<number | null> {
    const cached = this.#pods.get(namespace, name);
    if (cached === undefined) {
      return null;
    }
    const { object: pod, uid } = cached;
    const { access, settingsOf, databases } = this.#options;
    const { client, world } = access;
    const given = {
      settings: settingsOf(namespace),
      now: { monotonicMilliseconds: world.monotonic(), wallMilliseconds: world.wall() },
      address: this.#addresses.of(uid),
      nodes: nodeNames,
    };
    const isThere = (): boolean => this.uidOf(namespace, name) === uid;
    const look = this.#options.looks.look(pod, given, databases && ((one) => databases.mysqldReady(one)), isThere);
    return carryOut(look, (write) => perform(client, write));
  }
}
