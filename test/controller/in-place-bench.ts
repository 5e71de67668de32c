import { controllerRevisions, nodes, pods } from '../../src/kube/resource.ts';
import { noPodFaults, type ResizeFault } from '../support/nodes/faults.ts';
import { kubeletStep } from '../support/nodes/kubelet.ts';
import type { Pod } from '../support/nodes/objects.ts';
import type { PodMemory } from '../support/nodes/pod-memory.ts';
import { defaultSettings, type NodesSettings } from '../support/nodes/settings.ts';
import { Bench, member } from './bench.ts';
import { recorded, revisionAfter, revisionBefore } from './moco-objects.ts';
import type { Patch, Raw } from './object-server.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly resources?: object;
}

interface Spec {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
}

/** A template with other images. MOCO copies its init program from the image of the agent. */
export function withImages(template: Patch, images: Readonly<Record<string, string>>): Patch {
  const spec = template['spec'] as Spec;
  const renamed = (list: readonly Container[]): readonly Container[] =>
    list.map((one) => ({ ...one, image: images[one.name] ?? one.image }));
  return {
    ...template,
    spec: { ...spec, containers: renamed(spec.containers), initContainers: renamed(spec.initContainers) },
  };
}

/** A template in which containers have these resources. */
export function withResources(template: Patch, resources: Readonly<Record<string, object>>): Patch {
  const spec = template['spec'] as Spec;
  const containers = spec.containers.map((one) => ({ ...one, resources: resources[one.name] ?? one.resources }));
  return { ...template, spec: { ...spec, containers } };
}

/** A template in which a container has other fields. */
export function withContainer(template: Patch, name: string, change: object): Patch {
  const spec = template['spec'] as Spec;
  const containers = spec.containers.map((one) => (one.name === name ? { ...one, ...change } : one));
  return { ...template, spec: { ...spec, containers } };
}

export const agentImage = (tag: string) => ({
  agent: `example/agent:${tag}`,
  'copy-moco-init': `example/agent:${tag}`,
});

/** As the API server completes them in a pod. */
const oldResources = {
  mysqld: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
  agent: { limits: { cpu: '100m' }, requests: { cpu: '100m' } },
};

/** Kubelets need no time for anything. */
const atOnce: NodesSettings = {
  ...defaultSettings,
  initMilliseconds: 0,
  startMilliseconds: 0,
  startupMilliseconds: 0,
  restartMilliseconds: 0,
  firstProbeMilliseconds: 0,
};

/** A cluster of three whose pods can be changed, with the ControllerRevisions of both templates and a kubelet for each. */
export class InPlaceBench extends Bench {
  readonly #memories = new Map<number, PodMemory>();
  readonly #restarts: Record<string, number> = {};

  /** By default the update revision differs from the pods' by nothing. */
  constructor(
    change: (template: Patch) => Patch = (template) => template,
    first: (template: Patch) => Patch = (template) => template,
  ) {
    super();
    const recordedTemplate = withImages(recorded.statefulSet.spec['template'] as Patch, agentImage('1'));
    const before = first(withResources(recordedTemplate, oldResources));
    for (const [name, template] of [
      [revisionBefore, before],
      [revisionAfter, change(before)],
    ] as const) {
      this.server.create(controllerRevisions, { metadata: { name }, data: { spec: { template } } });
    }
    const { containers, initContainers } = before['spec'] as Spec;
    for (const ordinal of [0, 1, 2]) {
      this.changePod(ordinal, { spec: { nodeName: `node-${ordinal}`, containers, initContainers } });
      this.kubelet(ordinal);
      this.server.create(nodes, {
        metadata: { name: `node-${ordinal}`, namespace: undefined },
        status: { images: [] },
      });
    }
  }

  podOf(ordinal: number): Raw {
    return this.server.get(pods, member(ordinal));
  }

  imageOf(ordinal: number, container: string): string | undefined {
    return (this.podOf(ordinal)['spec'] as Spec).containers.find(({ name }) => name === container)?.image;
  }

  /** The node has pulled an image. */
  pulled(ordinal: number, image: string): void {
    this.server.change(nodes, `node-${ordinal}`, { status: { images: [{ names: [image] }] } }, '');
  }

  pulledEverywhere(image: string): void {
    for (const ordinal of [0, 1, 2]) this.pulled(ordinal, image);
  }

  /** The kubelet asks the registry before each start of the container. */
  pullsAlways(ordinal: number, container: string): void {
    const { spec } = this.podOf(ordinal);
    this.changePod(ordinal, withContainer({ spec }, container, { imagePullPolicy: 'Always' }));
  }

  resourcesOf(ordinal: number, container: string): object | undefined {
    return (this.podOf(ordinal)['spec'] as Spec).containers.find(({ name }) => name === container)?.resources;
  }

  /** Its kubelet looks, and does all that it can. It restarts containers whose image has changed, and `also` those. */
  kubelet(ordinal: number, ...also: readonly string[]): void {
    for (const name of also) this.#restarts[name] = (this.#restarts[name] ?? 0) + 1;
    this.#look(ordinal, null);
  }

  /** Its kubelet does not resize it. */
  refusesResize(ordinal: number, how: ResizeFault): void {
    this.#look(ordinal, how);
  }

  #look(ordinal: number, resize: ResizeFault | null): void {
    const { world } = this;
    const now = { monotonicMilliseconds: world.monotonic(), wallMilliseconds: world.wall() };
    const faults = { ...noPodFaults, restarts: { ...this.#restarts }, resize };
    for (;;) {
      const pod = this.podOf(ordinal) as unknown as Pod;
      const memory = this.#memories.get(ordinal) ?? null;
      const given = { pod, memory, faults, settings: atOnce, now, mysqldServes: true, address: '10.0.0.1', nodes: [] };
      const { writes, requeueAfterMilliseconds, memory: after } = kubeletStep(given);
      this.#memories.set(ordinal, after);
      for (const write of writes) if (write.verb === 'patchStatus') this.changePod(ordinal, { status: write.status });
      if (writes.length === 0 && requeueAfterMilliseconds !== 0) return;
    }
  }
}
