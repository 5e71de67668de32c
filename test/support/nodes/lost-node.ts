import { timestamp } from '../moment.ts';
import { type KubeletInput, type KubeletStep, type PodMemory, target } from './pod-memory.ts';
import { condition } from './pod-status.ts';
import type { PodWrite } from './write.ts';

/**
 * The node controller's actions for a pod whose kubelet is silent: after a while sets Ready to False, changes nothing else, and
 * evicts the pod after its toleration. A deletion has no effect, since no kubelet ends the containers.
 */
export function lostNodeStep(input: KubeletInput & { readonly memory: PodMemory }): KubeletStep {
  const { pod, memory, settings, now } = input;
  const lostAt = (memory.lostSince ?? now.monotonicMilliseconds) + settings.silenceMilliseconds;
  const unnoticed = lostAt - now.monotonicMilliseconds;
  if (unnoticed > 0) return { memory, writes: [], requeueAfterMilliseconds: unnoticed };
  const finding = { type: 'Ready', holds: false };
  const said = condition(pod, finding, memory.conditions, timestamp(now.wallMilliseconds));
  const written = JSON.stringify(said);
  const others = memory.conditions.filter(({ type }) => type !== 'Ready');
  const status: readonly PodWrite[] =
    written === memory.written ? [] : [{ verb: 'patchStatus', ...target(pod), status: { conditions: [said] } }];
  const wait = lostAt + settings.tolerationMilliseconds - now.monotonicMilliseconds;
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const eviction: readonly PodWrite[] =
    wait <= 0 && !terminating ? [{ verb: 'delete', ...target(pod), graceSeconds: null }] : [];
  return {
    memory: { ...memory, conditions: [...others, said], written },
    writes: [...status, ...eviction],
    requeueAfterMilliseconds: terminating || wait <= 0 ? null : wait,
  };
}
