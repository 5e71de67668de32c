import { type Moment } from '../moment.ts';
import type { ContainerMemory, ContainerRole, ContainerState } from './container.ts';
import type { ContainerStatus, Pod } from './objects.ts';
import type { PodMemory } from './pod-memory.ts';
import { resourcesOf } from './resize.ts';

/**
 * The state that a starting kubelet finds of a pod of another kubelet: its containers continue, as on a real node while
 * its kubelet restarts.
 */
export function adopt(fresh: PodMemory, { status }: Pod, now: Moment): PodMemory {
  if (status?.containerStatuses === undefined) {
    return fresh;
  }
  const { containerStatuses, initContainerStatuses = [] } = status;
  return {
    ...fresh,
    startAt: now.monotonicMilliseconds,
    initContainers: fresh.initContainers.map((container) => adoptContainer(container, initContainerStatuses, now)),
    containers: fresh.containers.map((container) => adoptContainer(container, containerStatuses, now)),
  };
}

function adoptContainer(
  container: ContainerMemory,
  statuses: readonly ContainerStatus[],
  now: Moment,
): ContainerMemory {
  const status = statuses.find(({ name }) => name === container.name);
  if (status === undefined) {
    return container;
  }
  return {
    ...container,
    state: adoptState(status, container.role, now) ?? container.state,
    last: status.lastState.terminated ?? null,
    restarts: status.restartCount,
    ready: container.role !== 'init' && status.ready,
    resources: status.resources === undefined ? null : resourcesOf(status),
  };
}

/** `null` for one that has not begun. What waits or has failed is tried again at once. */
function adoptState({ state, containerID }: ContainerStatus, role: ContainerRole, now: Moment): ContainerState | null {
  const { waiting, running, terminated } = state;
  const since = now.monotonicMilliseconds;
  if (running !== undefined) {
    return { kind: 'running', since, startedAt: running.startedAt, id: containerID ?? '' };
  }
  if (terminated !== undefined) {
    return { kind: 'terminated', how: terminated, until: role === 'init' && terminated.exitCode === 0 ? null : since };
  }
  return waiting?.reason === undefined ? null : { kind: 'waiting', reason: waiting.reason, until: since };
}
