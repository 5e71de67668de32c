import { path, pods } from '../../../src/kube/resource.ts';
import { mysqldContainer } from '../../../src/moco/names.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';
import { nodeNames } from '../../support/nodes/cluster-objects.ts';
import { FaultScript } from '../../support/nodes/fault-script.ts';
import type { PodFaults } from '../../support/nodes/faults.ts';
import { kubeletStep } from '../../support/nodes/kubelet.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import type { PodMemory } from '../../support/nodes/pod-memory.ts';
import type { NodesSettings } from '../../support/nodes/settings.ts';
import type { PodWrite } from '../../support/nodes/write.ts';
import type { VirtualClock } from './clock.ts';

const actor = 'kubelet';
const lookMilliseconds = 5;
const retryMilliseconds = 500;

export interface KubeletsOptions {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  /** Called for each pod. */
  readonly settingsOf: (podName: string) => NodesSettings;
  readonly wall: () => number;
  /** What the readiness probe of container mysqld finds, MySQL itself being asked. */
  readonly mysqldServes: (pod: Pod) => boolean;
}

/** Scheduler, kubelets and node controller: the pure step of `test/support/nodes` over every pod, its writes performed at once. */
export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #memories = new Map<string, PodMemory>();
  readonly #faults = new FaultScript();
  readonly #planned = new Map<string, { readonly atMilliseconds: number; readonly cancel: () => void }>();

  constructor(options: KubeletsOptions) {
    this.#options = options;
    options.server.store.subscribe(({ kind, object, type }) => {
      if (kind !== pods) return;
      if (type === 'DELETED') this.#memories.delete(object.metadata.uid);
      else this.#plan(object, lookMilliseconds);
    });
  }

  checkAll(): void {
    for (const pod of this.#options.server.store.all(pods)) this.#plan(pod, lookMilliseconds);
  }

  /** Changes the faults of the current pod of this name; returns whether there is one. */
  fault(namespace: string, name: string, change: (faults: PodFaults) => PodFaults): boolean {
    const pod = this.#options.server.store.get(pods, namespace, name);
    if (pod === null) return false;
    this.#faults.change(namespace, name, pod.metadata.uid, change);
    this.#plan(pod, 0);
    return true;
  }

  /** Changes the faults of every pod of this name. */
  faultPlace(namespace: string, name: string, change: (faults: PodFaults) => PodFaults): void {
    this.#faults.change(namespace, name, null, change);
  }

  heal(namespace: string, name: string): void {
    this.#faults.heal(namespace, name);
    const pod = this.#options.server.store.get(pods, namespace, name);
    if (pod !== null) this.#plan(pod, 0);
  }

  #plan({ metadata }: StoredObject, milliseconds: number): void {
    const { clock } = this.#options;
    const key = `${metadata.namespace}/${metadata.name}`;
    const atMilliseconds = clock.nowMilliseconds + milliseconds;
    const planned = this.#planned.get(key);
    if (planned !== undefined && planned.atMilliseconds <= atMilliseconds) return;
    planned?.cancel();
    const cancel = clock.after(milliseconds, () => {
      this.#planned.delete(key);
      const pod = this.#options.server.store.get(pods, metadata.namespace ?? '', metadata.name);
      const again = pod === null ? null : this.#look(pod);
      if (pod !== null && again !== null) this.#plan(pod, Math.max(1, again));
    });
    this.#planned.set(key, { atMilliseconds, cancel });
  }

  #look(stored: StoredObject): number | null {
    const { clock, wall, settingsOf } = this.#options;
    const pod = stored as unknown as Pod;
    const { namespace, name, uid } = pod.metadata;
    const memory = this.#memories.get(uid) ?? null;
    const step = kubeletStep({
      pod,
      memory,
      faults: this.#faults.of(namespace, name, uid),
      settings: settingsOf(name),
      now: { monotonicMilliseconds: clock.nowMilliseconds, wallMilliseconds: wall() },
      mysqldServes: this.#mysqldServes(pod, memory),
      address: '127.0.1.1',
      nodes: nodeNames,
    });
    if (!step.writes.every((write) => this.#write(write))) return retryMilliseconds;
    if (this.#options.server.store.get(pods, namespace, name)?.metadata.uid === uid)
      this.#memories.set(uid, step.memory);
    return step.requeueAfterMilliseconds;
  }

  #mysqldServes(pod: Pod, memory: PodMemory | null): boolean {
    const known = memory?.containers.find(({ name }) => name === mysqldContainer);
    const shown = pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
    return (
      known?.state.kind === 'running' &&
      shown?.state.running !== undefined &&
      shown.restartCount === known.restarts &&
      this.#options.mysqldServes(pod)
    );
  }

  #write(write: PodWrite): boolean {
    const { server } = this.#options;
    const target = path(pods, write);
    const metadata = { namespace: write.namespace, name: write.name, uid: write.uid };
    switch (write.verb) {
      case 'bind': {
        const body = { metadata, target: { name: write.node } };
        return server.handle({ method: 'POST', path: `${target}/binding`, body, actor }).code < 300;
      }
      case 'patchStatus': {
        const contentType = 'application/strategic-merge-patch+json';
        const body = { metadata: { uid: write.uid }, status: write.status };
        return server.handle({ method: 'PATCH', path: `${target}/status`, contentType, body, actor }).code < 300;
      }
      case 'delete': {
        const grace = write.graceSeconds === null ? {} : { gracePeriodSeconds: write.graceSeconds };
        const body = { preconditions: { uid: write.uid }, ...grace };
        const { code } = server.handle({ method: 'DELETE', path: target, body, actor });
        return code < 300 || code === 404;
      }
    }
  }
}
