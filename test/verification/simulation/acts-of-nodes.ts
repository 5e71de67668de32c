import { pods } from '../../../src/kube/resource.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { withContainerFault } from '../../support/nodes/fault-script.ts';
import type { ContainerFault, PodFaults } from '../../support/nodes/faults.ts';
import { asked, evict, forceDelete, podName, podPath } from './acts-of-people.ts';
import type { Happening } from './happening.ts';
import { namespace, type Simulation } from './simulation.ts';

// Faults of nodes and members.

const drainRetryMilliseconds = 5_000;

export const neverScheduled = (faults: PodFaults): PodFaults => ({ ...faults, neverScheduled: true });

export function memberAt({ server }: Simulation, ordinal: number): StoredObject | null {
  return server.store.get(pods, namespace, podName(ordinal));
}

/** As `kubectl drain`: retries until the eviction succeeds; no node accepts the member meanwhile. */
export function drain(
  simulation: Simulation,
  { ordinal, forMilliseconds }: Extract<Happening, { kind: 'drain' }>,
): void {
  const { clock, kubelets } = simulation;
  const end = clock.nowMilliseconds + forMilliseconds;
  kubelets.faultPlace(namespace, podName(ordinal), neverScheduled);
  clock.after(forMilliseconds, () => kubelets.heal(namespace, podName(ordinal)));
  const tryOnce = (): void => {
    if (clock.nowMilliseconds >= end) return;
    if (evict(simulation, ordinal)) simulation.struck('drain');
    else clock.after(drainRetryMilliseconds, tryOnce);
  };
  tryOnce();
}

export function fault(
  simulation: Simulation,
  ordinal: number,
  container: string,
  what: ContainerFault,
  forMilliseconds: number,
): boolean {
  const { kubelets, clock } = simulation;
  if (!kubelets.fault(namespace, podName(ordinal), withContainerFault(container, what))) return false;
  clock.after(forMilliseconds, () => kubelets.heal(namespace, podName(ordinal)));
  return true;
}

/**
 * As after an eviction by the kubelet, a preemption or the shutdown of a node: the containers have ended, and the pod is
 * `Failed`. Nobody has requested its deletion before the StatefulSet controller does.
 */
export function failPod(simulation: Simulation, ordinal: number): boolean {
  const pod = memberAt(simulation, ordinal);
  if (pod === null || pod.metadata.deletionTimestamp !== undefined) return false;
  const before = record(pod['status']) as Readonly<
    Record<'conditions' | 'containerStatuses', readonly Json[] | undefined>
  >;
  const state = { terminated: { exitCode: 137, reason: 'Error' } };
  const containerStatuses = before.containerStatuses?.map((one) => ({ ...one, ready: false, started: false, state }));
  const isOver = ({ type }: Json): boolean => type === 'Ready' || type === 'ContainersReady';
  const conditions = before.conditions?.map((one) => (isOver(one) ? { ...one, status: 'False' } : one));
  const status = { phase: 'Failed', reason: 'Evicted', conditions, containerStatuses };
  return asked(simulation, { method: 'PATCH', path: `${podPath(ordinal)}/status`, body: { status } });
}

/** Its Node object is deleted after a while: the pod garbage collector lets its pods fail, and deletes them by force. */
export function nodeGone(
  simulation: Simulation,
  { ordinal, forMilliseconds }: Extract<Happening, { kind: 'nodeGone' }>,
  strikes: (struck: boolean) => void,
): void {
  const uid = memberAt(simulation, ordinal)?.metadata.uid;
  if (!loseNode(simulation, ordinal, forMilliseconds)) return;
  simulation.clock.after(forMilliseconds - 1, () => {
    if (memberAt(simulation, ordinal)?.metadata.uid !== uid) return;
    failPod(simulation, ordinal);
    strikes(forceDelete(simulation, ordinal));
  });
}

/** Neither the kubelet nor MOCO reaches the member, and the others don't either. */
export function loseNode(simulation: Simulation, ordinal: number, forMilliseconds: number): boolean {
  const { kubelets, moco, clock } = simulation;
  const lost = (nodeLost: boolean) => (faults: PodFaults) => ({ ...faults, nodeLost });
  if (!kubelets.fault(namespace, podName(ordinal), lost(true))) return false;
  moco.setFaults({ unreachable: [...moco.faults.unreachable, ordinal] });
  const node = String(record(memberAt(simulation, ordinal)?.['spec'])['nodeName']);
  const isBack = simulation.fetchers.loseNode(node, simulation.silenceMilliseconds);
  clock.after(forMilliseconds, () => {
    isBack();
    kubelets.fault(namespace, podName(ordinal), lost(false));
    moco.setFaults({ unreachable: moco.faults.unreachable.filter((one) => one !== ordinal) });
  });
  return true;
}
