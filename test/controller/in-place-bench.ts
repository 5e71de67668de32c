import { controllerRevisions, nodes, pods } from '../../src/kube/resource.ts';
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

interface Status {
  readonly name: string;
  readonly restartCount?: number;
  readonly [field: string]: unknown;
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

/**
 * A cluster of three whose pods can be changed, with the ControllerRevisions of both templates and a kubelet that
 * restarts a container whose image has changed.
 */
export class InPlaceBench extends Bench {
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
      this.resized(ordinal);
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

  /** Gives the containers the resources of the spec. */
  resized(ordinal: number): void {
    const { spec, status, metadata } = this.podOf(ordinal);
    const statuses = (status as { readonly containerStatuses: readonly Status[] }).containerStatuses;
    const containerStatuses = statuses.map((one) => ({
      ...one,
      resources: (spec as Spec).containers.find(({ name }) => name === one.name)?.resources ?? {},
    }));
    const { conditions } = status as { readonly conditions: readonly { readonly type: string }[] };
    const others = conditions.filter((one) => !one.type.startsWith('PodResize'));
    this.changePod(ordinal, {
      status: { containerStatuses, conditions: others, observedGeneration: metadata.generation },
    });
  }

  /** Says why it has not resized the pod. */
  resizeWaits(ordinal: number, type: string, reason: string, message: string): void {
    const { metadata, status } = this.podOf(ordinal);
    const { conditions } = status as { readonly conditions: readonly { readonly type: string }[] };
    const others = conditions.filter((one) => !one.type.startsWith('PodResize'));
    const said = { type, status: 'True', reason, message, observedGeneration: metadata.generation };
    this.changePod(ordinal, { status: { conditions: [...others, said], observedGeneration: metadata.generation } });
  }

  /** A container ends and starts again. */
  restarts(ordinal: number, container: string): void {
    const statuses = (this.podOf(ordinal).status as { readonly containerStatuses: readonly Status[] })
      .containerStatuses;
    const containerStatuses = statuses.map((one) => {
      if (one.name !== container) return one;
      const restartCount = (one.restartCount ?? 0) + 1;
      const containerID = `fake://${container}/${restartCount}`;
      return { ...one, restartCount, containerID, state: { running: { startedAt: this.now } } };
    });
    this.changePod(ordinal, { status: { containerStatuses } });
  }

  /** Restarts the containers whose image has changed. `also` restarts others with them. */
  kubelet(ordinal: number, ...also: readonly string[]): void {
    const { spec, status, metadata } = this.podOf(ordinal);
    const statuses = (status as { readonly containerStatuses: readonly Status[] }).containerStatuses;
    const containerStatuses = statuses.map((one) => {
      const image = (spec as Spec).containers.find(({ name }) => name === one.name)?.image;
      const isNew = one['runs'] !== image || also.includes(one.name);
      if (!isNew) return one;
      const restartCount = one['runs'] === undefined ? 0 : (one.restartCount ?? 0) + 1;
      return {
        ...one,
        runs: image,
        restartCount,
        containerID: `fake://${one.name}/${restartCount}`,
        ready: true,
        started: true,
        state: { running: { startedAt: this.now } },
      };
    });
    this.changePod(ordinal, { status: { containerStatuses, observedGeneration: metadata.generation } });
  }
}
