import { withContainerFault, withRestart } from '../../hack/nodes/fault-script.ts';
import type { ContainerFault, PodFaults } from '../../hack/nodes/faults.ts';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { cronJobs, path, pods, statefulSets } from '../../src/kube/resource.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  clusterKind,
  demoteAnnotation,
  forceRollingUpdateAnnotation,
  mysqldContainer,
  reconciliationStoppedAnnotation,
} from '../../src/moco/names.ts';
import type { ControllerProcess, WritePoint } from './controller-process.ts';
import type { Happening } from './happening.ts';
import { clusterName, namespace, type Simulation } from './simulation.ts';
import { type Json, record, type StoredObject } from './stored-object.ts';

const statefulSet = `moco-${clusterName}`;
const clusterPath = path(clusterKind, { namespace, name: clusterName });
const statefulSetPath = path(statefulSets, { namespace, name: statefulSet });
const podName = (ordinal: number): string => `${statefulSet}-${ordinal}`;
const podPath = (ordinal: number): string => path(pods, { namespace, name: podName(ordinal) });

/** Lets something happen now, and end when its time is over. */
export function happen(simulation: Simulation, what: Happening): void {
  const { clock, network, moco, kubelets, controllers } = simulation;
  const later = (milliseconds: number, end: () => void): void => void clock.after(milliseconds, end);
  switch (what.kind) {
    case 'rollOut':
      return setImage(simulation, what.image);
    case 'rollOutBad':
      setImage(simulation, what.image);
      return later(what.forMilliseconds, () => setImage(simulation, what.corrected));
    case 'pause':
      wish(simulation, { paused: true });
      return later(what.forMilliseconds, () => wish(simulation, { paused: null }));
    case 'keepBelow':
      wish(simulation, { partition: what.partition });
      return later(what.forMilliseconds, () => wish(simulation, { partition: null }));
    case 'stopClustering':
      return annotateFor(simulation, clusteringStoppedAnnotation, what.forMilliseconds);
    case 'stopReconciliation':
      return annotateFor(simulation, reconciliationStoppedAnnotation, what.forMilliseconds);
    case 'forceRollingUpdate':
      return annotateFor(simulation, forceRollingUpdateAnnotation, what.forMilliseconds);
    case 'goOffline':
      patchCluster(simulation, { spec: { offline: true } });
      return later(what.forMilliseconds, () => patchCluster(simulation, { spec: { offline: null } }));
    case 'scale':
      simulation.wanted.replicas = what.replicas;
      return patchCluster(simulation, { spec: { replicas: what.replicas } });
    case 'growVolumes':
      return growVolumes(simulation, what.size);
    case 'recreateCluster':
      return recreateCluster(simulation);
    case 'backup':
      setBackup(simulation, true);
      return later(what.forMilliseconds, () => setBackup(simulation, false));
    case 'deletePod':
      return void simulation.request({ method: 'DELETE', path: podPath(what.ordinal), body: {} });
    case 'evictPod':
      return void simulation.request({ method: 'POST', path: `${podPath(what.ordinal)}/eviction`, body: {} });
    case 'recreateStatefulSet': {
      const body = { propagationPolicy: 'Orphan' };
      return void simulation.request({ method: 'DELETE', path: statefulSetPath, body });
    }
    case 'removeRollout':
      return void simulation.request({ method: 'DELETE', path: path(rolloutKind, { namespace, name: clusterName }) });
    case 'foreignDemote': {
      const demote = (value: string | null): Json => ({ metadata: { annotations: { [demoteAnnotation]: value } } });
      const target = podPath(what.ordinal);
      simulation.request({ method: 'PATCH', path: target, body: demote(annotationOn) });
      return later(
        what.forMilliseconds,
        () => void simulation.request({ method: 'PATCH', path: target, body: demote(null) }),
      );
    }
    case 'kill':
      return fault(simulation, what.ordinal, what.container, 'dead', what.forMilliseconds);
    case 'crashLoop':
      return fault(simulation, what.ordinal, what.container, 'crashLoop', what.forMilliseconds);
    case 'flap':
      return fault(simulation, what.ordinal, what.container, 'notReady', what.forMilliseconds);
    case 'restart':
      return void kubelets.fault(namespace, podName(what.ordinal), withRestart(what.container));
    case 'loseNode':
      return loseNode(simulation, what.ordinal, what.forMilliseconds);
    case 'unschedulable':
      kubelets.neverSchedule(namespace, podName(what.ordinal));
      return later(what.forMilliseconds, () => kubelets.heal(namespace, podName(what.ordinal)));
    case 'hangTerminating':
      kubelets.fault(namespace, podName(what.ordinal), (faults) => ({ ...faults, hangsTerminating: true }));
      return later(what.forMilliseconds, () => kubelets.heal(namespace, podName(what.ordinal)));
    case 'stopMoco':
      moco.stop();
      return later(what.forMilliseconds, () => moco.start());
    case 'switchover':
      moco.setFaults({ switchover: what.how });
      return later(what.forMilliseconds, () => moco.setFaults({ switchover: 'working' }));
    case 'nextPrimary':
      moco.setFaults({ nextPrimary: what.ordinal });
      return later(what.forMilliseconds, () => moco.setFaults({ nextPrimary: null }));
    case 'lag':
      moco.setFaults({ lagSeconds: { [what.ordinal]: what.seconds } });
      return later(what.forMilliseconds, () => moco.setFaults({ lagSeconds: {} }));
    case 'errant':
      moco.setFaults({ errant: [what.ordinal] });
      return later(what.forMilliseconds, () => moco.setFaults({ errant: [] }));
    case 'staleStatus':
      moco.setFaults({ statusLagMilliseconds: what.byMilliseconds });
      return later(what.forMilliseconds, () => moco.setFaults({ statusLagMilliseconds: 0 }));
    case 'mishaps': {
      const { mishap, requests, probability, process, forMilliseconds } = what;
      const untilMilliseconds = clock.nowMilliseconds + forMilliseconds;
      return network.add({ mishap, requests, probability, process, untilMilliseconds });
    }
    case 'watchLag':
      network.lagOf.set(what.plural, what.milliseconds);
      return later(what.forMilliseconds, () => void network.lagOf.delete(what.plural));
    case 'watchStalls':
      for (const watch of network.watches(what.process, what.plural)) watch.stall(what.forMilliseconds);
      return;
    case 'watchBreaks':
      for (const watch of network.watches(what.process, what.plural)) watch.break();
      return;
    case 'watchExpires':
      network.oldestRevision = simulation.server.store.revision;
      simulation.server.lists.expire();
      for (const watch of network.watches(null, what.plural)) watch.expire();
      return;
    case 'watchRepeats':
      for (const watch of network.watches(null, what.plural)) watch.repeat(what.lines);
      return;
    case 'slowControllers':
      controllers.slowByMilliseconds = what.milliseconds;
      return later(what.forMilliseconds, () => {
        controllers.slowByMilliseconds = 0;
      });
    case 'crash':
      return processOf(simulation, what.process).crash('was killed', what.downMilliseconds);
    case 'crashAtWrite':
      return atWrite(simulation, what, (process) => process.crash(`died ${what.when} a write`));
    case 'atWrite':
      return atWrite(simulation, what, () => happen(simulation, what.what));
    case 'stop':
      return processOf(simulation, what.process).stop(what.downMilliseconds);
    case 'freeze':
      return processOf(simulation, what.process).freeze(what.forMilliseconds);
    case 'moveClock':
      return processOf(simulation, what.process).moveWall(what.byMilliseconds);
  }
}

function processOf({ processes }: Simulation, number: number): ControllerProcess {
  const process = processes[number % processes.length];
  if (process === undefined) throw new Error('expected a process of the controller, there is none');
  return process;
}

function atWrite(
  simulation: Simulation,
  point: WritePoint & { readonly process: number },
  reached: (process: ControllerProcess) => void,
): void {
  const process = processOf(simulation, point.process);
  process.atWrite(point, () => reached(process));
}

function patchCluster(simulation: Simulation, body: Json): void {
  simulation.request({ method: 'PATCH', path: clusterPath, body });
}

function setImage(simulation: Simulation, image: string): void {
  simulation.wanted.image = image;
  patchCluster(simulation, { spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } } });
}

function annotateFor(simulation: Simulation, name: string, forMilliseconds: number): void {
  patchCluster(simulation, { metadata: { annotations: { [name]: annotationOn } } });
  simulation.clock.after(forMilliseconds, () =>
    patchCluster(simulation, { metadata: { annotations: { [name]: null } } }),
  );
}

function wish(simulation: Simulation, spec: Json): void {
  simulation.request({ method: 'PATCH', path: path(rolloutKind, { namespace, name: clusterName }), body: { spec } });
}

function growVolumes(simulation: Simulation, size: string): void {
  const templates = record(simulation.cluster?.['spec'])['volumeClaimTemplates'] as readonly Json[] | undefined;
  const grown = (templates ?? []).map((template) => {
    const spec = record(template['spec']);
    return { ...template, spec: { ...spec, resources: { requests: { storage: size } } } };
  });
  patchCluster(simulation, { spec: { volumeClaimTemplates: grown } });
}

/** Nobody takes a pod away that has lost its owner: whoever comes next adopts it. */
const isOwned = ({ metadata }: StoredObject): boolean => (metadata.ownerReferences?.length ?? 0) > 0;

/** Made again as soon as the old one and all that is still its own are gone. */
function recreateCluster(simulation: Simulation): void {
  const { clock, server } = simulation;
  simulation.request({ method: 'DELETE', path: clusterPath, body: {} });
  const make = (): void => {
    const gone = server.store.get(clusterKind, namespace, clusterName) === null;
    if (!gone || server.store.get(statefulSets, namespace, statefulSet) !== null || simulation.members.some(isOwned)) {
      clock.after(1_000, make);
      return;
    }
    simulation.createCluster();
  };
  make();
}

function setBackup(simulation: Simulation, runs: boolean): void {
  for (const job of simulation.server.store.all(cronJobs)) {
    const status = runs ? { active: [{ kind: 'Job', name: 'backup-1' }] } : {};
    const target = path(cronJobs, { namespace, name: job.metadata.name, subresource: 'status' });
    simulation.request({ method: 'PUT', path: target, body: { status } });
  }
}

function fault(
  simulation: Simulation,
  ordinal: number,
  container: string,
  what: ContainerFault,
  forMilliseconds: number,
): void {
  const { kubelets, clock } = simulation;
  if (!kubelets.fault(namespace, podName(ordinal), withContainerFault(container, what))) return;
  clock.after(forMilliseconds, () => kubelets.heal(namespace, podName(ordinal)));
}

/** Neither the kubelet nor MOCO reaches the member, and the others don't either. */
function loseNode(simulation: Simulation, ordinal: number, forMilliseconds: number): void {
  const { kubelets, moco, clock } = simulation;
  const lost = (nodeLost: boolean) => (faults: PodFaults) => ({ ...faults, nodeLost });
  if (!kubelets.fault(namespace, podName(ordinal), lost(true))) return;
  moco.setFaults({ unreachable: [...moco.faults.unreachable, ordinal] });
  clock.after(forMilliseconds, () => {
    kubelets.fault(namespace, podName(ordinal), lost(false));
    moco.setFaults({ unreachable: moco.faults.unreachable.filter((one) => one !== ordinal) });
  });
}
