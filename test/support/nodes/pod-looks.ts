import { mysqldContainer } from '../../../src/moco/names.ts';
import { all, type Look } from '../carry-out.ts';
import { FaultScript } from './fault-script.ts';
import { kubeletStep } from './kubelet.ts';
import type { Pod } from './objects.ts';
import type { PodMemory } from './pod-memory.ts';
import type { PodWrite } from './write.ts';

/** Scheduler, kubelets and node controller, whoever plays them: a look at a pod, and what is remembered of it. */
export class PodLooks {
  readonly faults = new FaultScript();
  readonly #memories = new Map<string, PodMemory>();

  forget(uid: string): void {
    this.#memories.delete(uid);
  }

  /**
   * @param mysqldServes of its current process: what is shown may still be the one before; `null`: always
   * @param isThere whether it is still the pod of its name
   */
  *look(
    pod: Pod,
    given: Pick<Parameters<typeof kubeletStep>[0], 'settings' | 'now' | 'address' | 'nodes' | 'closed'>,
    mysqldServes: ((pod: Pod) => boolean) | null,
    isThere: () => boolean,
  ): Look<PodWrite> {
    const { namespace, name, uid } = pod.metadata;
    const memory = this.#memories.get(uid) ?? null;
    const step = kubeletStep({
      ...given,
      pod,
      memory,
      faults: this.faults.of(namespace, name, uid),
      mysqldServes: mysqldServes === null || (isShown(pod, memory) && mysqldServes(pod)),
    });
    if (!(yield* all(step.writes))) return 'failed';
    if (isThere()) this.#memories.set(uid, step.memory);
    return step.requeueAfterMilliseconds;
  }
}

/** Whether the pod shows the present process of mysqld. */
function isShown(pod: Pod, memory: PodMemory | null): boolean {
  const known = memory?.containers.find(({ name }) => name === mysqldContainer);
  const shown = pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
  return known?.state.kind === 'running' && shown?.state.running !== undefined && shown.restartCount === known.restarts;
}
