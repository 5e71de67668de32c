import type { ApiClient } from '../../src/kube/api-client.ts';
import { isConflict, isNotFound } from '../../src/kube/api-error.ts';
import type { Log } from '../../src/kube/log.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { path, persistentVolumeClaims, pods, type ResourceKind } from '../../src/kube/resource.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import type { World } from '../../src/kube/world.ts';
import { clusterNameLabel, mysqldContainer, roleLabel } from '../../src/moco/names.ts';
import { Loop } from '../moco/loop.ts';
import { Addresses } from './addresses.ts';
import { claimStep } from './claims.ts';
import { createClusterObjects, nodeNames } from './cluster-objects.ts';
import { FaultScript, withContainerFault, withRestart } from './fault-script.ts';
import type { ContainerFault, PodFaults } from './faults.ts';
import { kubeletStep } from './kubelet.ts';
import type { ObjectMeta, PersistentVolumeClaim, Pod } from './objects.ts';
import { perform } from './perform.ts';
import type { PodMemory } from './pod-memory.ts';
import { defaultSettings, type NodesSettings } from './settings.ts';

/** What knows whether MySQL serves: the stand-in for MOCO is one. */
export interface Databases {
  /** What the readiness probe of container mysqld finds in this pod, given that agent and kubelet do their part. */
  mysqldReady(pod: Pod): boolean;
  /** Calls back whenever the answers may have changed. Returns a function that ends it. */
  onDatabasesChange(callback: (namespace: string, clusterName: string) => void): () => void;
}

export interface NodesOptions {
  readonly client: ApiClient;
  readonly world: World;
  readonly log?: Log;
  /** Over those of `defaultSettings`. */
  readonly settings?: Partial<NodesSettings>;
  /** Without it every mysqld serves as soon as it has started. */
  readonly databases?: Databases;
  /** All unless told. */
  readonly namespaces?: readonly string[];
}

/** An object as it came. */
interface Cached<T> extends Stored {
  readonly object: T;
}

type CachedPod = Cached<Pod>;
type CachedClaim = Cached<PersistentVolumeClaim>;

const byCluster = 'cluster';
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

/** Makes nodes and a storage class, then plays scheduler, kubelets and volumes. Resolves once it has seen every pod. */
export async function startNodes(options: NodesOptions): Promise<Nodes> {
  await createClusterObjects(options.client, options.world.wall());
  const nodes = new Nodes(options);
  await nodes.start();
  return nodes;
}

/**
 * The running stand-in for scheduler, kubelets and volumes. Faults by hand are of the pod that has the name now, and go
 * with it; faults that come with an image are in `faults.ts`.
 */
export class Nodes {
  readonly #client: ApiClient;
  readonly #world: World;
  readonly #log: Log;
  readonly #settings: NodesSettings;
  readonly #databases: Databases | null;
  readonly #namespaces: readonly (string | null)[];
  readonly #settingsOf = new Map<string, Partial<NodesSettings>>();
  readonly #pods = new Store<CachedPod>({
    [byCluster]: ({ namespace, object }) => {
      const clusterName = object.metadata.labels?.[clusterNameLabel];
      return clusterName === undefined ? null : `${namespace}/${clusterName}`;
    },
  });
  readonly #claims = new Store<CachedClaim>({});
  readonly #loops = new Map<string, Loop>();
  readonly #memories = new Map<string, PodMemory>();
  readonly #addresses = new Addresses();
  readonly #faults = new FaultScript();
  readonly #stopping = new AbortController();
  #watching: Promise<unknown> = Promise.resolve();
  #unsubscribe: () => void = ignore;

  constructor({ client, world, log = silent, settings, databases, namespaces }: NodesOptions) {
    this.#client = client;
    this.#world = world;
    this.#log = log;
    this.#databases = databases ?? null;
    // Where somebody configures MySQL, that ends with the role label, and no pod is ready before.
    const labelBeforeReady = databases === undefined ? null : roleLabel;
    this.#settings = { ...defaultSettings, labelBeforeReady, ...settings };
    this.#namespaces = namespaces ?? [null];
  }

  /** Once, by {@link startNodes}. */
  async start(): Promise<void> {
    this.#pods.subscribe(({ before, after }) => this.#podChanged(before, after));
    this.#claims.subscribe(({ after }) => {
      if (after !== null) {
        this.#loopOf('claim', after, () => this.#claimLook(after.namespace, after.name)).trigger();
      }
    });
    const reflectors = this.#namespaces.flatMap((namespace) => [
      this.#reflector<Pod>(pods, namespace, this.#pods),
      this.#reflector<PersistentVolumeClaim>(persistentVolumeClaims, namespace, this.#claims),
    ]);
    this.#watching = Promise.all(reflectors.map((reflector) => reflector.run(this.#stopping.signal)));
    this.#unsubscribe =
      this.#databases?.onDatabasesChange((namespace, clusterName) => {
        for (const pod of this.#pods.by(byCluster, `${namespace}/${clusterName}`)) {
          this.#look(pod.namespace, pod.name);
        }
      }) ?? ignore;
    await Promise.all(reflectors.map(({ synced }) => synced));
  }

  /** Other durations in one namespace from now on; what is not named stays as it is. */
  configure(namespace: string, settings: Partial<NodesSettings>): void {
    this.#settingsOf.set(namespace, { ...this.#settingsOf.get(namespace), ...settings });
    for (const pod of this.#pods.values().filter((candidate) => candidate.namespace === namespace)) {
      this.#look(namespace, pod.name);
    }
  }

  containerFault(namespace: string, pod: string, container: string, fault: ContainerFault): void {
    this.#fault(namespace, pod, withContainerFault(container, fault));
  }

  crashLoop(namespace: string, pod: string, container: string = mysqldContainer): void {
    this.containerFault(namespace, pod, container, 'crashLoop');
  }

  notReady(namespace: string, pod: string, container: string = mysqldContainer): void {
    this.containerFault(namespace, pod, container, 'notReady');
  }

  /** mysqld runs and is not ready, as while it replicates too far behind. */
  lag(namespace: string, pod: string): void {
    this.notReady(namespace, pod);
  }

  /** The process of mysqld ends and does not come back before `heal`. */
  killMysqld(namespace: string, pod: string): void {
    this.containerFault(namespace, pod, mysqldContainer, 'dead');
  }

  /** The container ends, and starts again after `restartMilliseconds`. */
  restartOnce(namespace: string, pod: string, container: string): void {
    this.#fault(namespace, pod, withRestart(container));
  }

  hangTerminating(namespace: string, pod: string): void {
    this.#fault(namespace, pod, (faults) => ({ ...faults, hangsTerminating: true }));
  }

  /** The kubelet of the pod's node is gone: only the node controller speaks, and a deletion takes no effect. */
  loseNode(namespace: string, pod: string): void {
    this.#fault(namespace, pod, (faults) => ({ ...faults, nodeLost: true }));
  }

  returnNode(namespace: string, pod: string): void {
    this.#fault(namespace, pod, (faults) => ({ ...faults, nodeLost: false }));
  }

  /** No node takes whichever pod has this name, one that is still to come too. */
  neverSchedule(namespace: string, pod: string): void {
    this.#faults.change(namespace, pod, null, (faults) => ({ ...faults, neverScheduled: true }));
    this.#look(namespace, pod);
  }

  /** Every fault by hand goes. A container that had to back off starts at once. */
  heal(namespace: string, pod: string): void {
    this.#faults.heal(namespace, pod);
    this.#look(namespace, pod);
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stopping.abort();
    await this.#watching;
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()));
    this.#loops.clear();
  }

  #reflector<T extends { readonly metadata: ObjectMeta }>(
    kind: ResourceKind,
    namespace: string | null,
    store: Store<Cached<T>>,
  ): Reflector<Cached<T>> {
    return new Reflector<Cached<T>>({
      client: this.#client,
      world: this.#world,
      log: this.#log,
      path: path(kind, namespace === null ? {} : { namespace }),
      store,
      project: (raw) => {
        const object = raw as unknown as T;
        const { metadata } = object;
        return {
          namespace: metadata.namespace,
          name: metadata.name,
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
          object,
        };
      },
    });
  }

  #fault(namespace: string, name: string, change: (faults: PodFaults) => PodFaults): void {
    const pod = this.#pods.get(namespace, name);
    if (pod === undefined) {
      throw new Error(`Expected a pod ${namespace}/${name} to give a fault to, found none`);
    }
    this.#faults.change(namespace, name, pod.uid, change);
    this.#look(namespace, name);
  }

  #podChanged(before: CachedPod | null, after: CachedPod | null): void {
    if (after === null) {
      if (before !== null) {
        this.#memories.delete(before.uid);
        this.#addresses.release(before.uid);
      }
      return;
    }
    const given = after.object.status?.podIP;
    if (given !== undefined) {
      this.#addresses.keep(after.uid, given);
    }
    this.#look(after.namespace, after.name);
  }

  #look(namespace: string, name: string): void {
    this.#loopOf('pod', { namespace, name }, () => this.#podLook(namespace, name)).trigger();
  }

  #loopOf(
    kind: 'pod' | 'claim',
    { namespace, name }: { readonly namespace: string; readonly name: string },
    run: () => Promise<number | null>,
  ): Loop {
    const key = `${kind} ${namespace}/${name}`;
    const existing = this.#loops.get(key);
    if (existing !== undefined) {
      return existing;
    }
    const loop = new Loop(this.#world, run, (error) => this.#failed(key, error));
    this.#loops.set(key, loop);
    return loop;
  }

  async #podLook(namespace: string, name: string): Promise<number | null> {
    const cached = this.#pods.get(namespace, name);
    if (cached === undefined) {
      return null;
    }
    const { object: pod, uid } = cached;
    const memory = this.#memories.get(uid) ?? null;
    const step = kubeletStep({
      pod,
      memory,
      faults: this.#faults.of(namespace, name, uid),
      settings: { ...this.#settings, ...this.#settingsOf.get(namespace) },
      now: { monotonicMilliseconds: this.#world.monotonic(), wallMilliseconds: this.#world.wall() },
      mysqldServes: this.#mysqldServes(pod, memory),
      address: this.#addresses.of(uid),
      nodes: nodeNames,
    });
    for (const write of step.writes) {
      await perform(this.#client, write);
    }
    if (this.#pods.get(namespace, name)?.uid === uid) {
      this.#memories.set(uid, step.memory);
    }
    return step.lookAgainAfterMilliseconds;
  }

  /** Only of the process that runs now: what the watch shows may still be the one before. */
  #mysqldServes(pod: Pod, memory: PodMemory | null): boolean {
    if (this.#databases === null) {
      return true;
    }
    const known = memory?.containers.find(({ name }) => name === mysqldContainer);
    const shown = pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
    return (
      known?.state.kind === 'running' &&
      shown?.state.running !== undefined &&
      shown.restartCount === known.restarts &&
      this.#databases.mysqldReady(pod)
    );
  }

  async #claimLook(namespace: string, name: string): Promise<null> {
    const cached = this.#claims.get(namespace, name);
    for (const write of cached === undefined ? [] : claimStep(cached.object)) {
      await perform(this.#client, write);
    }
    return null;
  }

  #failed(key: string, error: unknown): void {
    if (!isConflict(error) && !isNotFound(error)) {
      this.#log.warn({ object: key, error: String(error) }, 'nodes stand-in: a write was refused');
    }
  }
}
