import { text } from '../../../src/base/json.ts';
import { path, persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resource.ts';
import { mysqldContainer } from '../../../src/moco/names.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { dataVolume } from '../../support/moco/names.ts';
import { withContainerFault, withRestart } from '../../support/nodes/fault-script.ts';
import type { ContainerFault, PodFaults, ResizeFault } from '../../support/nodes/faults.ts';
import { type Act, act, type Lasting, type OfMember } from './act.ts';
import { asked, evict, forceDelete, podName, podPath } from './acts-of-people.ts';
import type { FetchTrouble } from './fetchers.ts';
import { type NodeUpgrades, upgradeNodes } from './node-upgrades.ts';
import type { Simulation } from './simulation.ts';
import { bind } from './stateful-set-controller.ts';

// Faults of nodes and members.

const drainRetryMilliseconds = 5_000;

const neverScheduled = (faults: PodFaults): PodFaults => ({ ...faults, neverScheduled: true });
const awaitsItsNode = (faults: PodFaults): PodFaults => ({ ...faults, neverScheduled: 'forItsNode' });

function memberAt({ server, namespace }: Simulation, ordinal: number): StoredObject | null {
  return server.store.get(pods, namespace, podName(ordinal));
}

export function fault(
  { kubelets, clock, namespace }: Simulation,
  { ordinal, container, forMilliseconds }: OfContainer & Lasting,
  what: ContainerFault,
): boolean {
  if (!kubelets.fault(namespace, podName(ordinal), withContainerFault(container, what))) return false;
  clock.after(forMilliseconds, () => kubelets.heal(namespace, podName(ordinal)));
  return true;
}

/**
 * As after an eviction by the kubelet, a preemption or the shutdown of a node: the containers have ended, and the pod is
 * `Failed`. Nobody has requested its deletion before the StatefulSet controller does.
 */
function failPod(simulation: Simulation, ordinal: number, reason = 'Evicted', disruption: Json | null = null): boolean {
  const pod = memberAt(simulation, ordinal);
  if (pod === null || pod.metadata.deletionTimestamp !== undefined) return false;
  const before = record(pod['status']) as Readonly<
    Record<'conditions' | 'containerStatuses', readonly Json[] | undefined>
  >;
  const state = { terminated: { exitCode: 137, reason: 'Error' } };
  const containerStatuses = before.containerStatuses?.map((one) => ({ ...one, ready: false, started: false, state }));
  const isOver = ({ type }: Json): boolean => type === 'Ready' || type === 'ContainersReady';
  const conditions = before.conditions?.map((one) => (isOver(one) ? { ...one, status: 'False' } : one));
  const all = [...(conditions ?? []), ...(disruption === null ? [] : [disruption])];
  const status = { phase: 'Failed', reason, conditions: all, containerStatuses };
  return asked(simulation, { method: 'PATCH', path: `${podPath(simulation, ordinal)}/status`, body: { status } });
}

const nodeOf = (simulation: Simulation, ordinal: number): string =>
  text(record(memberAt(simulation, ordinal)?.['spec'])['nodeName']) ?? '';

/**
 * As in a graceful shutdown (Kubernetes 1.36, nodeshutdown): the kubelet ends the pod, which is Failed with its reason. The
 * next pod of the member waits for the node, which has its volume.
 */
function shutDown(simulation: Simulation, ordinal: number, forMilliseconds: number, says: 'reason' | 'both'): boolean {
  const { kubelets, clock, nodeImages, namespace } = simulation;
  const node = nodeOf(simulation, ordinal);
  const target = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
  if (!failPod(simulation, ordinal, 'Terminated', says === 'both' ? target : null)) return false;
  kubelets.faultPlace(namespace, podName(ordinal), awaitsItsNode);
  nodeImages.setReady(node, false);
  clock.after(forMilliseconds, () => {
    nodeImages.setReady(node, true);
    kubelets.heal(namespace, podName(ordinal));
  });
  return true;
}

/** Some writer of the status, or a bug of a kubelet, leaves the containers out; the conditions stay as they are. */
function emptyStatuses(simulation: Simulation, ordinal: number, forMilliseconds: number): boolean {
  const { clock } = simulation;
  const pod = memberAt(simulation, ordinal);
  const { containerStatuses } = record(pod?.['status']);
  if (pod === null || containerStatuses === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  const write = (body: Json): boolean =>
    asked(simulation, { method: 'PATCH', path: `${podPath(simulation, ordinal)}/status`, body: { status: body } });
  clock.after(forMilliseconds, () => {
    const now = memberAt(simulation, ordinal);
    const shown = (record(now?.['status'])['containerStatuses'] ?? []) as readonly Json[];
    if (now?.metadata.uid === pod.metadata.uid && shown.length === 0) write({ containerStatuses });
  });
  return write({ containerStatuses: [] });
}

/** Neither the kubelet nor MOCO reaches the member, and the others don't either. */
function loseNode(simulation: Simulation, ordinal: number, forMilliseconds: number): boolean {
  const { kubelets, moco, clock, namespace } = simulation;
  const lost = (nodeLost: boolean) => (faults: PodFaults) => ({ ...faults, nodeLost });
  if (!kubelets.fault(namespace, podName(ordinal), lost(true))) return false;
  moco.loseContact([...moco.faults.unreachable, ordinal]);
  const node = String(record(memberAt(simulation, ordinal)?.['spec'])['nodeName']);
  const isBack = simulation.fetchers.loseNode(node, simulation.platform.silenceMilliseconds);
  clock.after(forMilliseconds, () => {
    isBack();
    kubelets.fault(namespace, podName(ordinal), lost(false));
    moco.setFaults({ unreachable: moco.faults.unreachable.filter((one) => one !== ordinal) });
  });
  return true;
}

const claimName = (ordinal: number): string => `${dataVolume}-${podName(ordinal)}`;

function loseVolume({ server: { store }, namespace }: Simulation, ordinal: number): boolean {
  const claim = store.get(persistentVolumeClaims, namespace, claimName(ordinal));
  if (claim === null) return false;
  const volume = store.get(persistentVolumes, '', String(record(claim['spec'])['volumeName']));
  if (volume !== null) store.remove(persistentVolumes, volume);
  store.put(persistentVolumeClaims, { ...claim, status: { phase: 'Lost' } });
  return true;
}

function swapClaim(simulation: Simulation, ordinal: number): boolean {
  const { namespace, server } = simulation;
  const { store } = server;
  const claim = store.get(persistentVolumeClaims, namespace, claimName(ordinal));
  if (claim === null || memberAt(simulation, ordinal) === null) return false;
  store.remove(persistentVolumeClaims, claim);
  const { labels } = claim.metadata;
  const body = {
    metadata: { name: claimName(ordinal), labels },
    spec: { resources: record(claim['spec'])['resources'] },
  };
  if (!asked(simulation, { method: 'POST', path: path(persistentVolumeClaims, { namespace }), body })) return false;
  bind(simulation.server, namespace, claimName(ordinal));
  return true;
}

interface OfContainer extends OfMember {
  readonly container: string;
}

const ofContainer = (sentence: string, what: ContainerFault): Act<OfContainer & Lasting> =>
  act(sentence, (simulation, of, strikes) => strikes(fault(simulation, of, what)));

/** What awaits every pod of that name until then. It counts if the pod that is there then has met with it. */
const inPlaceOf = (
  sentence: string,
  change: (faults: PodFaults) => PodFaults,
  hasMet: (pod: StoredObject | null) => boolean,
): Act<OfMember & Lasting> =>
  act(sentence, (simulation, { ordinal, forMilliseconds }, strikes) => {
    simulation.kubelets.faultPlace(simulation.namespace, podName(ordinal), change);
    simulation.clock.after(forMilliseconds, () => {
      strikes(hasMet(memberAt(simulation, ordinal)));
      simulation.kubelets.heal(simulation.namespace, podName(ordinal));
    });
  });

export const actsOfNodes = {
  failPod: act<OfMember>(
    'a pod fails, as when its kubelet evicts it, and the StatefulSet controller deletes it',
    (simulation, { ordinal }, strikes) => strikes(failPod(simulation, ordinal)),
  ),
  nodeShutdown: act<OfMember & Lasting & { readonly says: 'reason' | 'both' }>(
    'a node shuts down and boots later: its kubelet ends the pod, which is Failed, and the next one waits for the node',
    (simulation, { ordinal, forMilliseconds, says }, strikes) =>
      strikes(shutDown(simulation, ordinal, forMilliseconds, says)),
  ),
  emptyStatuses: act<OfMember & Lasting>(
    'the statuses of the containers of a pod are gone for a while, which is Ready all the same',
    (simulation, { ordinal, forMilliseconds }, strikes) => strikes(emptyStatuses(simulation, ordinal, forMilliseconds)),
  ),
  cordon: act<Lasting & { readonly ordinals: readonly number[] }>(
    'a person cordons the nodes of members for a while: no new pod is placed there',
    (simulation, { ordinals, forMilliseconds }, strikes) => {
      const { nodeImages, clock } = simulation;
      const names = ordinals.map((ordinal) => nodeOf(simulation, ordinal)).filter((name) => name !== '');
      for (const name of names) nodeImages.cordon(name, true);
      strikes(names.length > 0);
      clock.after(forMilliseconds, () => names.forEach((name) => nodeImages.cordon(name, false)));
    },
  ),
  upgradeNodes: act<NodeUpgrades>(
    'the nodes are upgraded one after another: cordoned, drained after a notice, and uncordoned later',
    ({ platform }, upgrades, strikes) => upgradeNodes(platform, upgrades, strikes),
  ),
  addNode: act<{ readonly name: string }>(
    'a node is about to join: there is an object of it, and its kubelet has never reported',
    ({ nodeImages }, { name }, strikes) => {
      nodeImages.add(name);
      strikes(true);
    },
  ),
  /** As `kubectl drain`: retries until the eviction succeeds; no node accepts the member meanwhile. */
  drain: act<OfMember & Lasting>(
    "a person drains a member's node: evicts it again and again until that is allowed, and no node takes it for a while",
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const { clock, kubelets, namespace } = simulation;
      const end = clock.nowMilliseconds + forMilliseconds;
      kubelets.faultPlace(namespace, podName(ordinal), awaitsItsNode);
      clock.after(forMilliseconds, () => kubelets.heal(namespace, podName(ordinal)));
      const tryOnce = (): void => {
        if (clock.nowMilliseconds >= end) return;
        if (evict(simulation, ordinal)) strikes(true);
        else clock.after(drainRetryMilliseconds, tryOnce);
      };
      tryOnce();
    },
  ),
  kill: ofContainer('a container dies and does not come back for a while', 'dead'),
  crashLoop: ofContainer('a container crashes again and again', 'crashLoop'),
  flap: ofContainer('a container is not ready for a while', 'notReady'),
  restart: act<OfContainer>('a container restarts', ({ kubelets, namespace }, { ordinal, container }, strikes) =>
    strikes(kubelets.fault(namespace, podName(ordinal), withRestart(container))),
  ),
  loseNode: act<OfMember & Lasting>(
    'a node is lost: its kubelet reports nothing any more, no client reaches the member, and later it is back',
    (simulation, { ordinal, forMilliseconds }, strikes) => strikes(loseNode(simulation, ordinal, forMilliseconds)),
  ),
  cutNetwork: act<OfMember & Lasting>(
    'the network of a pod is cut: its probes, which are local, still pass, and no client reaches the member',
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const { moco, clock } = simulation;
      if (memberAt(simulation, ordinal) === null) return;
      strikes(true);
      moco.loseContact([...moco.faults.unreachable, ordinal]);
      clock.after(forMilliseconds, () =>
        moco.setFaults({ unreachable: moco.faults.unreachable.filter((one) => one !== ordinal) }),
      );
    },
  ),
  loseVolume: act<OfMember>(
    "the PersistentVolume of a member's claim is deleted, and the claim is Lost: only the running pod has the data",
    (simulation, { ordinal }, strikes) => strikes(loseVolume(simulation, ordinal)),
  ),
  swapClaim: act<OfMember>(
    "a member's claim is forced away and made anew while its pod runs: the pod keeps the old volume",
    (simulation, { ordinal }, strikes) => strikes(swapClaim(simulation, ordinal)),
  ),
  /** Its Node object is deleted after a while: the pod garbage collector lets its pods fail, and deletes them by force. */
  nodeGone: act<OfMember & Lasting>(
    'a node is lost and does not come back: its pods fail, and are deleted by force',
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const uid = memberAt(simulation, ordinal)?.metadata.uid;
      if (!loseNode(simulation, ordinal, forMilliseconds)) return;
      simulation.clock.after(forMilliseconds - 1, () => {
        if (memberAt(simulation, ordinal)?.metadata.uid !== uid) return;
        failPod(simulation, ordinal);
        strikes(forceDelete(simulation, ordinal));
      });
    },
  ),
  unschedulable: inPlaceOf(
    'no node takes a member that was made anew',
    neverScheduled,
    (pod) => pod !== null && record(pod['spec'])['nodeName'] === undefined,
  ),
  pullFails: inPlaceOf(
    "a member's image can't be fetched where it is started",
    withContainerFault(mysqldContainer, 'imagePull'),
    (pod) => /ImagePull/.test(JSON.stringify(pod?.['status'] ?? null)),
  ),
  slowPull: act<OfMember & Lasting>(
    'a member that is made anew waits for its image',
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const { kubelets, clock, situations, namespace } = simulation;
      strikes(true);
      kubelets.faultPlace(namespace, podName(ordinal), withContainerFault(mysqldContainer, 'hangs'));
      clock.after(forMilliseconds, () => {
        situations.look(simulation.members, clock.nowMilliseconds);
        kubelets.heal(namespace, podName(ordinal));
      });
    },
  ),
  hangTerminating: act<OfMember & Lasting>(
    "the containers of a member that goes don't end",
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      simulation.kubelets.fault(simulation.namespace, podName(ordinal), (faults) => ({
        ...faults,
        hangsTerminating: true,
      }));
      simulation.clock.after(forMilliseconds, () => {
        strikes(memberAt(simulation, ordinal)?.metadata.deletionTimestamp !== undefined);
        simulation.kubelets.heal(simulation.namespace, podName(ordinal));
      });
    },
  ),
  refuseResize: act<OfMember & Lasting & { readonly how: ResizeFault }>(
    'a kubelet defers a resize, calls it infeasible, or reports an error',
    ({ kubelets, clock, namespace }, { ordinal, how, forMilliseconds }, strikes) => {
      const resize = (answer: ResizeFault | null): boolean =>
        kubelets.fault(namespace, podName(ordinal), (faults) => ({ ...faults, resize: answer }));
      strikes(resize(how));
      clock.after(forMilliseconds, () => void resize(null));
    },
  ),
  failFetch: act<FetchTrouble>(
    'pods that fetch images on nodes fail, wait, or are deleted by another client',
    ({ fetchers }, trouble, strikes) => fetchers.failFor(trouble, strikes),
  ),
};
