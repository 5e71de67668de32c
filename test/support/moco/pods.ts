import { mysqldContainer } from '../../../src/moco/names.ts';
import { ordinalOf } from './names.ts';
import type { ContainerStatus, Pod } from './objects.ts';

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function mysqldOf(pod: Pod): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
}

/**
 * Identifies one process of mysqld: another pod or another start of the container has another one. `null` while none
 * runs or it is still starting. mysqld forgets its configuration with every start.
 */
export function processOf(pod: Pod): string | null {
  const mysqld = mysqldOf(pod);
  const runs = mysqld?.state?.running !== undefined && mysqld.state.running !== null && mysqld.started !== false;
  return runs ? `${pod.metadata.uid}/${mysqld.restartCount ?? 0}` : null;
}

/** The pods, each at the index of its ordinal; a missing one leaves a hole. */
export function byOrdinal(pods: readonly Pod[]): readonly Pod[] {
  const members: Pod[] = [];
  for (const pod of pods) {
    members[ordinalOf(pod.metadata.name)] = pod;
  }
  return members;
}

/** One pod for each of `replicas` and no other: without that MOCO's clustering does nothing at all. */
export function isComplete(pods: readonly Pod[], replicas: number): boolean {
  const ordinals = new Set(pods.map((pod) => ordinalOf(pod.metadata.name)));
  return pods.length === replicas && ordinals.size === replicas && [...ordinals].every((ordinal) => ordinal < replicas);
}
