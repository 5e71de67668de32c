import { mysqldContainer } from '../../../src/moco/names.ts';
import { type ContainerMemory, isRunning, stopped } from './container.ts';
import type { Pod } from './objects.ts';
import type { Moving, PodMemory } from './pod-memory.ts';

/** Ends the containers of a pod that is on its way out, each in its time. */
export function endContainers(input: Moving): PodMemory {
  const { memory, now, faults } = input;
  if (memory.terminatingSince === null || faults.hangsTerminating) {
    return memory;
  }
  const end = (container: ContainerMemory): ContainerMemory => {
    const isLeft = isRunning(container) && now.monotonicMilliseconds < endAt(container.name, input);
    return isLeft ? container : stopped(container, now);
  };
  const initContainers = memory.initContainers.map(end);
  const containers = memory.containers.map(end);
  return { ...memory, initContainers, containers, stopped: ![...initContainers, ...containers].some(isRunning) };
}

/** When a container ends that runs in a pod on its way out, on the monotonic clock; Infinity while it hangs. */
export function endAt(name: string, { memory, pod, faults, settings }: Moving): number {
  if (memory.terminatingSince === null || faults.hangsTerminating) {
    return Number.POSITIVE_INFINITY;
  }
  const { deletionGracePeriodSeconds = Number.POSITIVE_INFINITY } = pod.metadata;
  const hook = settings.preStopHooks ? preStopMilliseconds(pod, name) : 0;
  const { stopMilliseconds, othersStopMilliseconds } = settings;
  const stop = name === mysqldContainer ? stopMilliseconds : (othersStopMilliseconds ?? stopMilliseconds);
  return memory.terminatingSince + Math.min(hook + stop, deletionGracePeriodSeconds * 1000);
}

/** Of a hook that is `sleep n`, as MOCO gives one to mysqld; SIGTERM comes after it. */
function preStopMilliseconds({ spec }: Pod, name: string): number {
  const [program, seconds] = spec.containers.find((one) => one.name === name)?.lifecycle?.preStop?.exec?.command ?? [];
  return program === 'sleep' ? Number(seconds) * 1000 : 0;
}
