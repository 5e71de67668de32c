import { nodes } from '../../../src/kube/resource.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import { imagesOf, runsOnce } from '../../support/nodes/run-once.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';

/** What nodes say of their images: of each, or of fifty big ones that no member uses. */
export type Reports = 'every image' | 'fifty others';

/** A kubelet lists its images every 30 s and reports a change within 10 s (1.36). */
const latestReportMilliseconds = 40_000;
const mostReported = 50;
const hostnameLabel = 'kubernetes.io/hostname';

interface Options {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly server: ApiServer;
  readonly names: readonly string[];
  /** `null`: only what was brought to a node on purpose. */
  readonly reports: Reports | null;
  /** How long an image is pulled. */
  readonly pullMilliseconds: number;
}

/** Which images each node has, and its Node object, which says so a moment later. */
export class NodeImages {
  readonly names: readonly string[];
  readonly #options: Options;
  readonly #present: ReadonlyMap<string, Set<string>>;

  constructor(options: Options) {
    this.#options = options;
    const { reports, server, names } = options;
    this.names = names;
    this.#present = new Map(names.map((name) => [name, new Set()]));
    const others = Array.from({ length: mostReported }, (_, number) => ({ names: [`example/other:${number}`] }));
    const images = reports === 'fifty others' ? others : [];
    for (const name of names) {
      const metadata = { name, uid: name, resourceVersion: '', labels: { [hostnameLabel]: name } };
      server.store.put(nodes, { metadata, status: { conditions: [{ type: 'Ready', status: 'True' }], images } });
    }
  }

  has(node: string, image: string): boolean {
    return this.#present.get(node)?.has(image) ?? false;
  }

  readonly fetchMilliseconds = (node: string, image: string): number =>
    this.has(node, image) ? 0 : this.#options.pullMilliseconds;

  /** Every node has the image from now on, and reports so. */
  bring(image: string): void {
    for (const name of this.names) {
      this.#present.get(name)?.add(image);
      this.#report(name, image);
    }
  }

  /** What a pod runs or has mounted its node has. */
  changed(stored: StoredObject): void {
    const { clock, chance, reports } = this.#options;
    const pod = stored as unknown as Pod;
    const { nodeName = '' } = pod.spec;
    const present = this.#present.get(nodeName);
    if (reports === null || present === undefined) return;
    for (const image of fetchedFor(pod)) {
      if (present.has(image)) continue;
      present.add(image);
      if (reports === 'every image')
        clock.after(chance.between(0, latestReportMilliseconds), () => this.#report(nodeName, image));
    }
  }

  /** Its kubelet is silent, or back. */
  setReady(node: string, isReady: boolean): void {
    const { server } = this.#options;
    const known = server.store.get(nodes, '', node);
    if (known === null) return;
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }];
    server.store.put(nodes, { ...known, status: { ...record(known['status']), conditions } });
  }

  /** Its kubelet has never reported, as of one that is about to join. */
  add(name: string): void {
    const metadata = { name, uid: name, resourceVersion: '', labels: { [hostnameLabel]: name } };
    this.#options.server.store.put(nodes, { metadata, status: {} });
  }

  cordon(node: string, isCordoned: boolean): void {
    const { store } = this.#options.server;
    const known = store.get(nodes, '', node);
    if (known !== null) store.put(nodes, { ...known, spec: { unschedulable: isCordoned } });
  }

  /** Nodes that take no pod, whatever it is. */
  get closed(): ReadonlySet<string> {
    const { store } = this.#options.server;
    const isClosed = (name: string): boolean => record(store.get(nodes, '', name)?.['spec'])['unschedulable'] === true;
    return new Set(this.names.filter(isClosed));
  }

  #reported(node: string): readonly Json[] {
    const known = this.#options.server.store.get(nodes, '', node);
    return (record(known?.['status'])['images'] ?? []) as readonly Json[];
  }

  #report(name: string, image: string): void {
    const { store } = this.#options.server;
    const known = store.get(nodes, '', name);
    const images = [...this.#reported(name), { names: [image] }];
    const metadata = known?.metadata ?? { name, uid: name, resourceVersion: '' };
    store.put(nodes, { metadata, status: { ...record(known?.['status']), images } });
  }
}

function fetchedFor(pod: Pod): readonly string[] {
  const { containerStatuses = [], initContainerStatuses = [], phase } = pod.status ?? {};
  if (runsOnce(pod)) return phase === 'Succeeded' ? imagesOf(pod) : [];
  // The spec may have another image already.
  return [...containerStatuses, ...initContainerStatuses].flatMap(({ state, image }) => (state.waiting ? [] : [image]));
}
