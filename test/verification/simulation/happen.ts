import { rolloutKind } from '../../../src/api/rollout.ts';
import { path } from '../../../src/kube/resource.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  demoteAnnotation,
  forceRollingUpdateAnnotation,
  mysqldContainer,
  reconciliationStoppedAnnotation,
} from '../../../src/moco/names.ts';
import { type Json, record } from '../../support/api-server/stored-object.ts';
import { withContainerFault, withRestart } from '../../support/nodes/fault-script.ts';
import { agentsDie, backlog, breakReplica, receiverBehind } from './acts-of-moco.ts';
import { drain, failPod, fault, loseNode, memberAt, neverScheduled, nodeGone } from './acts-of-nodes.ts';
import {
  annotateFor,
  asked,
  beginBackup,
  completeBackup,
  evict,
  forceDelete,
  growVolumes,
  labelMember,
  maintenance,
  noteInPlace,
  overrideOf,
  patchCluster,
  podName,
  podPath,
  recreateCluster,
  setImage,
  setPart,
  statefulSetPath,
} from './acts-of-people.ts';
import { copyRollout, keepRollout, programStopped, refuse, slowPull, stopMoco } from './acts-of-servers.ts';
import type { ControllerProcess, WritePoint } from './controller-process.ts';
import type { Fault } from './faults.ts';
import type { Happening } from './happening.ts';
import { clusterName, firstImage, namespace, type Simulation } from './simulation.ts';
import type { WatchStream } from './watch-stream.ts';

const rolloutPath = path(rolloutKind, { namespace, name: clusterName });

/** Lets something happen now, and end when its time is over. */
export function happen(simulation: Simulation, what: Happening): void {
  const { clock, network, moco, kubelets, controllers, nodeImages } = simulation;
  const later = (milliseconds: number, end: () => void): void => void clock.after(milliseconds, end);
  /** It has had an effect if this is true. */
  const strikes = (struck: boolean): void => {
    if (struck) simulation.struck(what.kind as Fault);
  };
  impede(simulation, what);
  impedeActing(simulation, what);
  switch (what.kind) {
    case 'rollOut':
      simulation.struck(what.image === firstImage ? 'revert' : 'change');
      return setImage(simulation, what.image);
    case 'rollOutBad':
      setImage(simulation, what.image);
      return later(what.forMilliseconds, () => {
        strikes(true);
        setImage(simulation, what.corrected);
      });
    case 'pause':
      strikes(simulation.setting({ paused: true }));
      return later(what.forMilliseconds, () => simulation.setting({ paused: null }));
    case 'manual':
      strikes(simulation.setting({ primaryUpdatePolicy: 'Manual' }));
      return later(what.forMilliseconds, () => simulation.setting({ primaryUpdatePolicy: null }));
    case 'keepLost':
      strikes(simulation.setting({ lostMembers: 'KeepRevision' }));
      return later(what.forMilliseconds, () => simulation.setting({ lostMembers: null }));
    case 'pin':
      strikes(simulation.setting({ pinnedMembers: [{ ordinal: what.ordinal, reason: 'kept for a while' }] }));
      return later(what.forMilliseconds, () => simulation.setting({ pinnedMembers: null }));
    case 'failCheck':
      return simulation.checks.failFor(what.forMilliseconds, strikes);
    case 'maintenance':
      strikes(simulation.setting(maintenance(simulation.wall(), what.openMilliseconds)));
      return later(
        what.forMilliseconds,
        () => void simulation.setting({ maintenanceWindows: null, expectedMemberSeconds: null }),
      );
    case 'stopInPlace':
      strikes(simulation.setting({ inPlace: { mode: 'Never' } }));
      return later(what.forMilliseconds, () => simulation.setting({ inPlace: { mode: 'IfPossible' } }));
    case 'stopPrepull':
      strikes(simulation.setting({ prepull: 'Never' }));
      return later(what.forMilliseconds, () => simulation.setting({ prepull: 'Nodes' }));
    case 'overridePreflight':
      strikes(simulation.setting({ overrides: [overrideOf(what, simulation.wall())] }));
      return later(what.forMilliseconds, () => simulation.setting({ overrides: null }));
    case 'labelMember':
      strikes(labelMember(simulation, what.ordinal, clusterName));
      return later(what.forMilliseconds, () => void labelMember(simulation, what.ordinal, null));
    case 'foreignFetchers':
      return strikes(simulation.fetchers.imitateFor(what.forMilliseconds));
    case 'failFetch':
      return simulation.fetchers.failFor(what, strikes);
    case 'keepBelow':
      strikes(simulation.setting({ partition: what.partition }));
      return later(what.forMilliseconds, () => simulation.setting({ partition: null }));
    case 'allow':
      strikes(simulation.setting({ maxUnavailable: what.maxUnavailable }));
      return later(what.forMilliseconds, () => simulation.setting({ maxUnavailable: null }));
    case 'stopClustering':
      return strikes(annotateFor(simulation, clusteringStoppedAnnotation, what.forMilliseconds));
    case 'stopReconciliation':
      return strikes(annotateFor(simulation, reconciliationStoppedAnnotation, what.forMilliseconds));
    case 'forceRollingUpdate':
      return strikes(annotateFor(simulation, forceRollingUpdateAnnotation, what.forMilliseconds));
    case 'goOffline':
      if (!simulation.isComplete(simulation.wanted.image)) simulation.situations.find('offlineInMidRollout');
      strikes(patchCluster(simulation, { spec: { offline: true } }));
      return later(what.forMilliseconds, () => patchCluster(simulation, { spec: { offline: null } }));
    case 'scale':
      simulation.wanted.replicas = what.replicas;
      return strikes(patchCluster(simulation, { spec: { replicas: what.replicas } }));
    case 'changePod':
      if (what.part === 'sidecar' && what.pulled) nodeImages.bring(what.value);
      if (what.part !== 'label') noteInPlace(simulation, what.part);
      return strikes(setPart(simulation, what.part, what.value));
    case 'badSidecar':
      for (const image of [what.image, what.corrected]) nodeImages.bring(image);
      setPart(simulation, 'sidecar', what.image);
      return later(what.forMilliseconds, () => {
        strikes(true);
        setPart(simulation, 'sidecar', what.corrected);
      });
    case 'upgradeMoco':
      if (what.pulled) nodeImages.bring(what.agent);
      simulation.wanted.agent = what.agent;
      moco.upgradeAgent(what.agent);
      return strikes(true);
    case 'refuseResize':
      strikes(kubelets.fault(namespace, podName(what.ordinal), (faults) => ({ ...faults, resize: what.how })));
      return later(what.forMilliseconds, () => {
        kubelets.fault(namespace, podName(what.ordinal), (faults) => ({ ...faults, resize: null }));
      });
    case 'growVolumes':
      return strikes(growVolumes(simulation, what.size));
    case 'recreateCluster':
      return strikes(recreateCluster(simulation));
    case 'backup':
    case 'backUpByHand': {
      const job = beginBackup(simulation, what.kind === 'backup' ? 'schedule' : 'hand');
      strikes(job !== null);
      return later(what.forMilliseconds, () => job !== null && completeBackup(simulation, job));
    }
    case 'deletePod':
      return strikes(asked(simulation, { method: 'DELETE', path: podPath(what.ordinal), body: {} }));
    case 'forceDelete':
      return strikes(forceDelete(simulation, what.ordinal));
    case 'failPod':
      return strikes(failPod(simulation, what.ordinal));
    case 'evictPod':
      return strikes(evict(simulation, what.ordinal));
    case 'drain':
      return drain(simulation, what);
    case 'recreateStatefulSet': {
      const body = { propagationPolicy: 'Orphan' };
      return strikes(asked(simulation, { method: 'DELETE', path: statefulSetPath, body }));
    }
    case 'removeRollout':
      return strikes(asked(simulation, { method: 'DELETE', path: rolloutPath }));
    case 'touchRollout': {
      const body = { metadata: { annotations: { 'example.com/touched': String(clock.nowMilliseconds) } } };
      return strikes(asked(simulation, { method: 'PATCH', path: rolloutPath, body }));
    }
    case 'foreignDemote': {
      const demote = (value: string | null): Json => ({ metadata: { annotations: { [demoteAnnotation]: value } } });
      const target = podPath(what.ordinal);
      strikes(asked(simulation, { method: 'PATCH', path: target, body: demote(annotationOn) }));
      return later(
        what.forMilliseconds,
        () => void asked(simulation, { method: 'PATCH', path: target, body: demote(null) }),
      );
    }
    case 'kill':
      return strikes(fault(simulation, what.ordinal, what.container, 'dead', what.forMilliseconds));
    case 'crashLoop':
      return strikes(fault(simulation, what.ordinal, what.container, 'crashLoop', what.forMilliseconds));
    case 'flap':
      return strikes(fault(simulation, what.ordinal, what.container, 'notReady', what.forMilliseconds));
    case 'restart':
      return strikes(kubelets.fault(namespace, podName(what.ordinal), withRestart(what.container)));
    case 'loseNode':
      return strikes(loseNode(simulation, what.ordinal, what.forMilliseconds));
    case 'nodeGone':
      return nodeGone(simulation, what, strikes);
    case 'unschedulable':
      kubelets.faultPlace(namespace, podName(what.ordinal), neverScheduled);
      return later(what.forMilliseconds, () => {
        const member = memberAt(simulation, what.ordinal);
        strikes(member !== null && record(member['spec'])['nodeName'] === undefined);
        kubelets.heal(namespace, podName(what.ordinal));
      });
    case 'pullFails':
      kubelets.faultPlace(namespace, podName(what.ordinal), withContainerFault(mysqldContainer, 'imagePull'));
      return later(what.forMilliseconds, () => {
        strikes(/ImagePull/.test(JSON.stringify(memberAt(simulation, what.ordinal)?.['status'] ?? null)));
        kubelets.heal(namespace, podName(what.ordinal));
      });
    case 'hangTerminating':
      kubelets.fault(namespace, podName(what.ordinal), (faults) => ({ ...faults, hangsTerminating: true }));
      return later(what.forMilliseconds, () => {
        strikes(memberAt(simulation, what.ordinal)?.metadata.deletionTimestamp !== undefined);
        kubelets.heal(namespace, podName(what.ordinal));
      });
    case 'together':
      for (const { afterMilliseconds, what: one } of what.all) later(afterMilliseconds, () => happen(simulation, one));
      return;
    case 'stopMoco':
      return stopMoco(simulation, what);
    case 'programStopped':
      return strikes(programStopped(simulation, what));
    case 'refuseEvictions':
    case 'refusePods':
      strikes(true);
      return refuse(simulation, what);
    case 'slowPull':
      strikes(true);
      return slowPull(simulation, what);
    case 'copyRollout':
      return strikes(copyRollout(simulation, what));
    case 'keepRollout':
      return strikes(keepRollout(simulation, what));
    case 'upstreamUnavailable': {
      const intermediate = record(simulation.cluster?.['spec'])['replicationSourceSecretName'] !== undefined;
      if (!intermediate) return;
      strikes(true);
      simulation.situations.find('upstreamUnavailable');
      moco.setFaults({ upstreamUnavailable: true });
      return later(what.forMilliseconds, () => moco.setFaults({ upstreamUnavailable: false }));
    }
    case 'switchover':
      moco.setFaults({ switchover: what.how });
      return later(what.forMilliseconds, () => moco.setFaults({ switchover: 'working' }));
    case 'nextPrimary':
      moco.setFaults({ nextPrimary: what.ordinal });
      return later(what.forMilliseconds, () => moco.setFaults({ nextPrimary: null }));
    case 'lag':
      strikes(what.ordinal < simulation.members.length);
      moco.setFaults({ lagSeconds: { [what.ordinal]: what.seconds } });
      return later(what.forMilliseconds, () => moco.setFaults({ lagSeconds: {} }));
    case 'backlog':
      return backlog(simulation, what);
    case 'agentsDie':
      return agentsDie(simulation, what);
    case 'receiverBehind':
      return receiverBehind(simulation, what);
    case 'breakReplica':
      return breakReplica(simulation, what);
    case 'errant':
      moco.setFaults({ errant: [what.ordinal] });
      return later(what.forMilliseconds, () => {
        const errant = record(simulation.cluster?.['status'])['errantReplicaList'];
        strikes(Array.isArray(errant) && errant.length > 0);
        moco.setFaults({ errant: [] });
      });
    case 'staleStatus':
      strikes(true);
      moco.setFaults({ statusLagMilliseconds: what.byMilliseconds });
      return later(what.forMilliseconds, () => moco.setFaults({ statusLagMilliseconds: 0 }));
    case 'mishaps': {
      const { mishap, requests, probability, process, forMilliseconds } = what;
      const untilMilliseconds = clock.nowMilliseconds + forMilliseconds;
      network.add({ mishap, requests, probability, process, untilMilliseconds });
      if (requests === 'confirm' && mishap.kind === 'slow') noteSlowConfirmations(simulation, what);
      if (what.watches === 'expire') forget(simulation);
      if (what.watches !== 'stay') for (const watch of network.watches(process, null)) watch.break();
      return;
    }
    case 'watchLag':
      strikes(network.watches(null, what.plural).length > 0);
      network.lagOf.set(what.plural, what.milliseconds);
      return later(what.forMilliseconds, () => void network.lagOf.delete(what.plural));
    case 'watchStalls':
      return toWatches(simulation, what, (watch) => watch.stall(what.forMilliseconds));
    case 'watchBreaks':
      return toWatches(simulation, what, (watch) => watch.break());
    case 'watchExpires':
      forget(simulation);
      return toWatches(simulation, { ...what, process: null }, (watch) => watch.expire());
    case 'watchForgets':
      later(what.forMilliseconds, () => forget(simulation));
      for (const watch of network.watches(null, what.plural)) {
        watch.forget(what.forMilliseconds, (lines) => strikes(lines > 0));
      }
      return;
    case 'watchRepeats':
      for (const watch of network.watches(null, what.plural)) strikes(watch.repeat(what.lines));
      return;
    case 'slowControllers':
      strikes(true);
      controllers.slowByMilliseconds = what.milliseconds;
      return later(what.forMilliseconds, () => {
        controllers.slowByMilliseconds = 0;
      });
    case 'crash':
      strikes(processOf(simulation, what.process).isRunning);
      return processOf(simulation, what.process).crash('was killed', what.downMilliseconds);
    case 'crashAtWrite':
      return atWrite(simulation, what, (process) => {
        simulation.struck(crashes[what.when]);
        process.crash(`died ${what.when} a write`);
      });
    case 'atWrite':
      return atWrite(simulation, what, () => {
        strikes(true);
        happen(simulation, what.what);
      });
    case 'stop':
      strikes(processOf(simulation, what.process).isRunning);
      return processOf(simulation, what.process).stop(what.downMilliseconds);
    case 'freeze':
      strikes(processOf(simulation, what.process).isRunning);
      return processOf(simulation, what.process).freeze(what.forMilliseconds);
    case 'moveClock':
      strikes(processOf(simulation, what.process).isRunning);
      simulation.witness.doubtTimes();
      return processOf(simulation, what.process).moveWall(what.byMilliseconds);
  }
}

const crashes = { before: 'crashBeforeWrite', onItsWay: 'crashOnItsWay', after: 'crashAfterWrite' } as const;

/** A process that has lost touch tries again after this time, at the latest. */
const retriesWithinMilliseconds = 45_000;
/** After a dry run that was refused the next one may come so late. */
const dryRunsWithinMilliseconds = 330_000;

/** What lasts, or has an end at once, and keeps the program from seeing or writing, or what it sees from being true. */
const troubles: ReadonlySet<Happening['kind']> = new Set([
  'mishaps',
  'watchLag',
  'watchStalls',
  'watchBreaks',
  'watchExpires',
  'watchForgets',
  'watchRepeats',
  'slowControllers',
  'copyRollout',
  'keepRollout',
  'removeRollout',
  'moveClock',
  'stop',
]);

/** How long the program may be kept from acting. Whether a process leads, the processes say themselves. */
function impedeActing({ clock, ability }: Simulation, what: Happening): void {
  const now = clock.nowMilliseconds;
  const lasts = 'forMilliseconds' in what ? what.forMilliseconds : 0;
  // MOCO's webhook fails closed.
  if (what.kind === 'stopMoco' && !what.otherReplica) ability.impede(now, now + lasts + dryRunsWithinMilliseconds);
  if (!troubles.has(what.kind)) return;
  const slow = what.kind === 'mishaps' && what.mishap.kind === 'slow' ? what.mishap.thereMilliseconds : 0;
  const late = what.kind === 'watchLag' ? what.milliseconds : 0;
  ability.impede(now, now + lasts + slow + late + retriesWithinMilliseconds);
}

/** How long the program may be kept from reading or writing, with a margin. */
function impede({ clock, demotions }: Simulation, what: Happening): void {
  const impeding: ReadonlySet<Happening['kind']> = new Set([
    'mishaps',
    'watchLag',
    'watchStalls',
    'watchForgets',
    'freeze',
    'programStopped',
    'copyRollout',
    'keepRollout',
  ]);
  const lasting = impeding.has(what.kind) && 'forMilliseconds' in what ? what.forMilliseconds : 0;
  const slow = what.kind === 'mishaps' && what.mishap.kind === 'slow' ? what.mishap.thereMilliseconds : 0;
  const lag = what.kind === 'watchLag' ? what.milliseconds : 0;
  const down = 'downMilliseconds' in what ? what.downMilliseconds : 0;
  if (lasting + down > 0) demotions.impede(clock.nowMilliseconds + lasting + slow + lag + down);
}

const longestConfirmationMilliseconds = 2_000;
const longMilliseconds = 10_000;

function noteSlowConfirmations(
  { clock, strikes, situations }: Simulation,
  { mishap, forMilliseconds }: Extract<Happening, { kind: 'mishaps' }>,
): void {
  const slow = mishap.kind === 'slow' ? mishap.thereMilliseconds + mishap.backMilliseconds : 0;
  if (slow < longestConfirmationMilliseconds || forMilliseconds < longMilliseconds) return;
  const before = strikes['slow get'] ?? 0;
  clock.after(forMilliseconds, () => {
    if ((strikes['slow get'] ?? 0) > before) situations.find('confirmationTooSlow');
  });
}

function toWatches(
  simulation: Simulation,
  { kind, process, plural }: { readonly kind: Fault; readonly process: number | null; readonly plural: string | null },
  act: (watch: WatchStream) => void,
): void {
  const watches = simulation.network.watches(process, plural);
  if (watches.length > 0) simulation.struck(kind);
  for (const watch of watches) act(watch);
}

/** The API server has compacted its history. */
function forget({ network, server }: Simulation): void {
  network.oldestRevision = server.store.revision;
  server.lists.expire();
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
