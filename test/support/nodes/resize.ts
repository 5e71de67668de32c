import { isDeepStrictEqual } from 'node:util';
import { type ContainerMemory, isRunning } from './container.ts';
import type { ResizeFault } from './faults.ts';
import type { Container, Pod, Resources } from './objects.ts';

// What a kubelet makes of a container's resources in the pod's spec that are not those it runs with. Without room on the
// node it waits, or gives up; it changes nothing of the pod then.

export const resizeMessages: Readonly<Record<ResizeFault, string>> = {
  Deferred: "Node didn't have enough resource: cpu, requested: 2000, used: 63000, capacity: 64000",
  Infeasible: "Node didn't have enough capacity: cpu, requested: 65000, capacity: 64000",
  Error: 'cannot decrease memory limits: attempting to set container memory limit below current usage',
};

/** The container with the resources of the spec, unless it has to restart for them first, or can't get them. */
export function withResources(before: ContainerMemory, spec: Container, fault: ResizeFault | null): ContainerMemory {
  const isKept =
    before.resources !== null && (fault !== null || (isRunning(before) && restartsForResize(before, spec)));
  return isKept || isSame(before, spec) ? before : { ...before, resources: resourcesOf(spec) };
}

/** The kubelet restarts a container whose `resizePolicy` says so for a resource that changes. */
export function restartsForResize({ resources }: ContainerMemory, spec: Container): boolean {
  const after = resourcesOf(spec);
  return (spec.resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      (['limits', 'requests'] as const).some((list) => resources?.[list][resourceName] !== after[list][resourceName]),
  );
}

export const resourcesOf = ({ resources = {} }: Pick<Container, 'resources'>): Resources => ({
  limits: resources.limits ?? {},
  requests: resources.requests ?? {},
});

const isSame = ({ resources }: ContainerMemory, spec: Container): boolean =>
  isDeepStrictEqual(resources, resourcesOf(spec));

interface ResizeFinding {
  readonly type: 'PodResizePending' | 'PodResizeInProgress';
  readonly holds: true;
  readonly reason: ResizeFault;
  readonly message: string;
}

/** The condition of a resize that is not made. */
export function resizeFinding(
  { spec }: Pod,
  containers: readonly ContainerMemory[],
  fault: ResizeFault | null,
): readonly ResizeFinding[] {
  const isWanted = containers.some((container) =>
    spec.containers.some((one) => one.name === container.name && !isSame(container, one)),
  );
  if (fault === null || !isWanted) return [];
  const type = fault === 'Error' ? 'PodResizeInProgress' : 'PodResizePending';
  return [{ type, holds: true, reason: fault, message: resizeMessages[fault] }];
}
