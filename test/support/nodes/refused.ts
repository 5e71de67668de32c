import { timestamp } from '../moment.ts';
import type { Pod } from './objects.ts';
import { type KubeletInput, type KubeletStep, type PodMemory, target } from './pod-memory.ts';

/** A fault that comes with an image, of the pod as a whole: its node has no room for it. */
export const isRefused = ({ spec }: Pod): boolean =>
  spec.containers.some(({ image = '' }) => image.includes('refused'));

/**
 * A kubelet that does not admit a pod (`rejectPod` in pkg/kubelet/kubelet.go): the pod fails, and no container of it is ever
 * made. The StatefulSet controller deletes it and creates it again, without a pause.
 */
export function refusedStep({ pod, memory, now }: KubeletInput & { readonly memory: PodMemory }): KubeletStep {
  const rest = { memory, requeueAfterMilliseconds: null };
  if (pod.metadata.deletionTimestamp !== undefined) {
    return { ...rest, writes: [{ verb: 'delete', ...target(pod), graceSeconds: 0 }] };
  }
  if (pod.status?.phase === 'Failed') return { ...rest, writes: [] };
  const observedGeneration = pod.metadata.generation;
  const status = {
    observedGeneration,
    startTime: pod.status?.startTime ?? timestamp(now.wallMilliseconds),
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: 'Pod was rejected: the node has too little cpu',
  };
  return { ...rest, writes: [{ verb: 'patchStatus', ...target(pod), status }] };
}
