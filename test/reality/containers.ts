import { setTimeout as delay } from 'node:timers/promises';
import { isNotFound } from '../../src/kube/api-error.ts';
import { pods } from '../../src/kube/resource.ts';
import { exhaustMemory } from '../support/cluster/cgroups.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import type { ClusterNode } from '../support/cluster/node.ts';
import { until } from '../support/control-plane/until.ts';
import type { ObjectClient } from '../support/object-client.ts';

/** What is read of a pod. */
export interface RunningPod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      /** Such as `containerd://` and 64 hexadecimal digits. */
      readonly containerID?: string;
      readonly state?: { readonly running?: object };
    }[];
  };
}

const pauseMilliseconds = 200;
const outOfMemoryMilliseconds = 60_000;

/** Ends the processes of containers behind the kubelet's back, as whatever ends a process does. */
export class Containers {
  readonly #cluster: Cluster;
  readonly #client: ObjectClient;
  readonly #held = new Map<string, AbortController>();

  constructor(cluster: Cluster, client: ObjectClient) {
    this.#cluster = cluster;
    this.#client = client;
  }

  /** SIGKILL. The kubelet starts it again, at once or after its back-off. Throws if no such container runs. */
  async kill(namespace: string, pod: string, container: string): Promise<void> {
    const found = await this.#pod(namespace, pod);
    if (found === null || !(await this.#strike(found, container))) {
      throw new Error(`Expected container ${container} of pod ${namespace}/${pod} to run, it does not`);
    }
  }

  /** SIGKILL as often as the kubelet starts it, until {@link heal} or until another pod takes this one's place. */
  async hold(namespace: string, pod: string, container: string): Promise<void> {
    this.heal(namespace, pod);
    const holding = new AbortController();
    this.#held.set(keyOf(namespace, pod), holding);
    const held = await this.#pod(namespace, pod);
    if (held === null) throw new Error(`Expected a pod ${namespace}/${pod}, found none`);
    await this.#strike(held, container);
    void this.#hold(held, container, holding.signal);
  }

  heal(namespace: string, pod: string): void {
    this.#held.get(keyOf(namespace, pod))?.abort();
    this.#held.delete(keyOf(namespace, pod));
  }

  /** Every process of pods, SIGKILL, and the pods with them: those that replace them have no back-off. */
  async killPods(namespace: string, selector: string): Promise<void> {
    const listed = await this.#cluster.kubectl('get', 'pods', '-n', namespace, '-l', selector, '--output=json');
    for (const pod of (JSON.parse(listed) as { items: readonly RunningPod[] }).items) {
      // They may end by themselves meanwhile.
      for (const { name } of pod.status?.containerStatuses ?? []) await this.#strike(pod, name).catch(() => false);
    }
    await this.#cluster.kubectl('delete', 'pods', '-n', namespace, '-l', selector, '--force', '--grace-period=0');
  }

  /**
   * Takes from its cgroup what it does not use. Resolves once the kernel has ended a process for that.
   *
   * @param ask makes it want more
   */
  async runOutOfMemory(namespace: string, pod: string, container: string, ask: () => Promise<unknown>): Promise<void> {
    const found = await this.#pod(namespace, pod);
    const id = idOf(found, container);
    if (found === null || id === null) {
      throw new Error(`Expected container ${container} of pod ${namespace}/${pod} to run, it does not`);
    }
    await exhaustMemory(id);
    await until(
      `the kernel ends ${container} of pod ${namespace}/${pod}`,
      async () => {
        await ask();
        return idOf(await this.#pod(namespace, pod), container) !== id;
      },
      { milliseconds: outOfMemoryMilliseconds },
    );
  }

  nodeNamed(name: string | undefined): ClusterNode {
    const node = this.#cluster.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`Expected a node ${name}, the cluster has none`);
    return node;
  }

  stop(): void {
    for (const holding of this.#held.values()) holding.abort();
    this.#held.clear();
  }

  async #hold(held: RunningPod, container: string, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = held.metadata;
    for (let found: RunningPod | null = held; found?.metadata.uid === uid; ) {
      await delay(pauseMilliseconds, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // An API server may be slow, a container end by itself, a node be off.
      found = await this.#pod(namespace, name).catch(() => held);
      if (found?.metadata.uid === uid) await this.#strike(found, container).catch(() => false);
    }
  }

  /** Resolves to whether it ran. */
  async #strike(pod: RunningPod, container: string): Promise<boolean> {
    const id = idOf(pod, container);
    if (id === null) return false;
    await this.nodeNamed(pod.spec.nodeName).ctr('tasks', 'kill', '--signal', 'SIGKILL', id);
    return true;
  }

  async #pod(namespace: string, name: string): Promise<RunningPod | null> {
    try {
      return await this.#client.get<RunningPod>(pods, { namespace, name }, { priority: 'read' });
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }
}

function idOf(pod: Pick<RunningPod, 'status'> | null, container: string): string | null {
  const found = pod?.status?.containerStatuses?.find(({ name, state }) => name === container && state?.running);
  return found?.containerID?.replace(/^containerd:[/][/]/, '') ?? null;
}

function keyOf(namespace: string, pod: string): string {
  return `${namespace}/${pod}`;
}
