import { pods } from '../../../src/kube/resource.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';
import { carryOutAtOnce } from '../../support/carry-out.ts';
import type { PodFaults } from '../../support/nodes/faults.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import { requestOf } from '../../support/nodes/perform.ts';
import { PodLooks } from '../../support/nodes/pod-looks.ts';
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
  readonly settingsOf: (pod: Pod) => NodesSettings;
  /** Names of the nodes. */
  readonly nodes: readonly string[];
  readonly wall: () => number;
  /** The nodes that do not take the pod. */
  readonly closedTo: (pod: Pod) => ReadonlySet<string>;
  /** What the readiness probe of container mysqld finds, MySQL itself being asked. */
  readonly mysqldServes: (pod: Pod) => boolean;
}

/** Scheduler, kubelets and node controller: the looks of `test/support/nodes`, their writes performed at once. */
export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #looks = new PodLooks();
  readonly #planned = new Map<string, { readonly atMilliseconds: number; readonly cancel: () => void }>();

  constructor(options: KubeletsOptions) {
    this.#options = options;
    options.server.store.subscribe(({ kind, object, type }) => {
      if (kind !== pods) return;
      if (type === 'DELETED') this.#looks.forget(object.metadata.uid);
      else this.#plan(object, lookMilliseconds);
    });
  }

  /** Looks at every pod of a namespace. */
  checkAll(namespace: string): void {
    for (const pod of this.#options.server.store.all(pods)) {
      if (pod.metadata.namespace === namespace) this.#plan(pod, lookMilliseconds);
    }
  }

  /** Changes the faults of the current pod of this name; returns whether there is one. */
  fault(namespace: string, name: string, change: (faults: PodFaults) => PodFaults): boolean {
    const pod = this.#options.server.store.get(pods, namespace, name);
    if (pod === null) return false;
    this.#looks.faults.change(namespace, name, pod.metadata.uid, change);
    this.#plan(pod, 0);
    return true;
  }

  /** Changes the faults of every pod of this name. */
  faultPlace(namespace: string, name: string, change: (faults: PodFaults) => PodFaults): void {
    this.#looks.faults.change(namespace, name, null, change);
  }

  heal(namespace: string, name: string): void {
    this.#looks.faults.heal(namespace, name);
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
    const { clock, server, wall, settingsOf, nodes, mysqldServes, closedTo } = this.#options;
    const pod = stored as unknown as Pod;
    const { namespace, name, uid } = pod.metadata;
    const given = {
      settings: settingsOf(pod),
      now: { monotonicMilliseconds: clock.nowMilliseconds, wallMilliseconds: wall() },
      address: '127.0.1.1',
      nodes,
      ...(pod.spec.nodeName === undefined && { closed: closedTo(pod) }),
    };
    const isThere = (): boolean => server.store.get(pods, namespace, name)?.metadata.uid === uid;
    const look = this.#looks.look(pod, given, mysqldServes, isThere);
    return carryOutAtOnce(look, (write) => this.#write(write), retryMilliseconds);
  }

  #write(write: PodWrite): boolean {
    const { code } = this.#options.server.handle({ ...requestOf(write), actor });
    return code < 300 || (write.verb === 'delete' && code === 404);
  }
}
