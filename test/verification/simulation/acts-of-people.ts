import { rolloutKind } from '../../../src/api/rollout.ts';
import { policyKind } from '../../../src/api/rollout-policy.ts';
import { cronJobs, jobs, path, pods, statefulSets } from '../../../src/kube/resource.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  clusterKind,
  demoteAnnotation,
  demotedForAnnotation,
  forceRollingUpdateAnnotation,
  preflightLabel,
  reconciliationStoppedAnnotation,
  revisionHashLabel,
} from '../../../src/moco/names.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { dailyWindow } from '../../support/daily-window.ts';
import { jobLabels } from '../../support/moco/names.ts';
import { timestamp } from '../../support/moment.ts';
import { isOpen } from '../witness/maintenance.ts';
import type { WitnessedWindow } from '../witness/objects.ts';
import { type Act, act, type Hindrance, type Lasting, type OfMember } from './act.ts';
import { podTemplateOf } from './pod-template.ts';
import { clusterName, firstImage, type Simulation } from './simulation.ts';
import { foreignOwner } from './situations.ts';

// Requests of the user and others to the API server, each of which returns whether it succeeded; and what they do, made
// of such requests.

const statefulSet = `moco-${clusterName}`;
const clusterPath = ({ namespace }: Simulation): string => path(clusterKind, { namespace, name: clusterName });
const rolloutPath = ({ namespace }: Simulation): string => path(rolloutKind, { namespace, name: clusterName });
const statefulSetPath = ({ namespace }: Simulation): string => path(statefulSets, { namespace, name: statefulSet });
export const podName = (ordinal: number): string => `${statefulSet}-${ordinal}`;
export const podPath = ({ namespace }: Simulation, ordinal: number): string =>
  path(pods, { namespace, name: podName(ordinal) });

/** Whether the API server has agreed. */
export function asked(simulation: Simulation, request: Parameters<Simulation['request']>[0]): boolean {
  return simulation.request(request).code < 300;
}

export function evict(simulation: Simulation, ordinal: number): boolean {
  return asked(simulation, { method: 'POST', path: `${podPath(simulation, ordinal)}/eviction`, body: {} });
}

export function deletePod(simulation: Simulation, ordinal: number): boolean {
  return asked(simulation, { method: 'DELETE', path: podPath(simulation, ordinal), body: {} });
}

/** With the label by which the program lists the pods that fetch images, or without it. */
function labelMember(simulation: Simulation, ordinal: number, value: string | null): boolean {
  const body = { metadata: { labels: { [preflightLabel]: value } } };
  return asked(simulation, { method: 'PATCH', path: podPath(simulation, ordinal), body });
}

/** Like `kubectl delete --force`, which does not wait for the kubelet. */
export function forceDelete(simulation: Simulation, ordinal: number): boolean {
  return asked(simulation, { method: 'DELETE', path: podPath(simulation, ordinal), body: { gracePeriodSeconds: 0 } });
}

function patchCluster(simulation: Simulation, body: Json): boolean {
  return asked(simulation, { method: 'PATCH', path: clusterPath(simulation), body });
}

export function setImage(simulation: Simulation, image: string): void {
  const demoted = simulation.members.some(({ metadata }) => metadata.annotations?.[demotedForAnnotation] !== undefined);
  if (demoted && image !== simulation.wanted.image) simulation.situations.find('templateChangesInDemotion');
  simulation.wanted.image = image;
  patchCluster(simulation, { spec: { podTemplate: podTemplateOf(simulation.wanted) } });
}

/** Something else that a rollout can change, in a running pod even. */
export function setPart(simulation: Simulation, part: 'label' | 'sidecar' | 'cpu', value: string): boolean {
  simulation.wanted[part] = value;
  return patchCluster(simulation, { spec: { podTemplate: podTemplateOf(simulation.wanted) } });
}

/** Which of the situations of updates in place this is the beginning of. */
function noteInPlace({ server, namespace, checks, situations, wall }: Simulation, part: 'sidecar' | 'cpu'): void {
  const rollout = server.store.get(rolloutKind, namespace, clusterName);
  const { inPlace, maintenanceWindows = [] } = record(rollout?.['spec']);
  if (inPlace === undefined) return;
  if (part === 'sidecar') {
    if (record(inPlace)['primary'] !== 'InPlace') situations.find('restartsBesidePrimary');
    return;
  }
  const windows = maintenanceWindows as readonly WitnessedWindow[];
  const isClosed = windows.length > 0 && !windows.some((window) => isOpen(window, wall()));
  if (isClosed || checks.isFailing) situations.find('resizeMayNotBegin');
}

export function annotateFor(simulation: Simulation, name: string, forMilliseconds: number): boolean {
  simulation.clock.after(forMilliseconds, () =>
    patchCluster(simulation, { metadata: { annotations: { [name]: null } } }),
  );
  return patchCluster(simulation, { metadata: { annotations: { [name]: annotationOn } } });
}

function growVolumes(simulation: Simulation, size: string): boolean {
  const templates = record(simulation.cluster?.['spec'])['volumeClaimTemplates'] as readonly Json[] | undefined;
  const grown = (templates ?? []).map((template) => {
    const spec = record(template['spec']);
    return { ...template, spec: { ...spec, resources: { requests: { storage: size } } } };
  });
  return patchCluster(simulation, { spec: { volumeClaimTemplates: grown } });
}

/** A pod without an owner is not deleted: the next StatefulSet adopts it. */
const isOwned = ({ metadata }: StoredObject): boolean => (metadata.ownerReferences?.length ?? 0) > 0;

/** Created again once the old one and its dependents are deleted. */
function recreateCluster(simulation: Simulation): boolean {
  const { clock, server, namespace } = simulation;
  const goes = asked(simulation, { method: 'DELETE', path: clusterPath(simulation), body: {} });
  const make = (): void => {
    const gone = server.store.get(clusterKind, namespace, clusterName) === null;
    if (!gone || server.store.get(statefulSets, namespace, statefulSet) !== null || simulation.members.some(isOwned)) {
      clock.after(1_000, make);
      return;
    }
    simulation.createCluster();
  };
  make();
  return goes;
}

const minuteMilliseconds = 60_000;

/** A window that closes after so long, and one that opens a minute later. Both last for whole seconds. */
function twoWindows(wallMilliseconds: number, openMilliseconds: number): Json {
  const opened = wallMilliseconds - (wallMilliseconds % minuteMilliseconds);
  const seconds = Math.ceil((wallMilliseconds + openMilliseconds - opened) / 1000);
  const next = opened + (Math.ceil(seconds / 60) + 1) * minuteMilliseconds;
  return { maintenanceWindows: [dailyWindow(opened, seconds), dailyWindow(next, 3600)], expectedMemberSeconds: 1 };
}

/**
 * A Job from the CronJob that MOCO keeps: scheduled, so that the CronJob lists it, or created by a person. Returns its name, or
 * `null` if there is no CronJob.
 */
export function beginBackup(simulation: Simulation, by: 'schedule' | 'hand'): string | null {
  const { namespace, server } = simulation;
  const { store } = server;
  const [cronJob] = store.all(cronJobs).filter(({ metadata }) => metadata.namespace === namespace);
  if (cronJob === undefined) return null;
  const isBefore = ({ metadata }: StoredObject): boolean =>
    metadata.namespace === namespace && metadata.labels?.['by'] === by;
  const before = store.all(jobs).filter(isBefore);
  const name = `${by}-${before.length}`;
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob.metadata.name, uid: cronJob.metadata.uid };
  const metadata = { name, labels: { ...jobLabels(clusterName), by }, ownerReferences: [owner] };
  const began = asked(simulation, { method: 'POST', path: path(jobs, { namespace }), body: { metadata, spec: {} } });
  if (began && by === 'schedule') listActive(simulation, [{ kind: 'Job', name }]);
  return began ? name : null;
}

export function completeBackup(simulation: Simulation, name: string): void {
  const status = { conditions: [{ type: 'Complete', status: 'True' }] };
  const { namespace } = simulation;
  const target = path(jobs, { namespace, name, subresource: 'status' });
  simulation.request({ method: 'PUT', path: target, body: { status } });
  if (name.startsWith('schedule')) listActive(simulation, []);
}

function listActive(simulation: Simulation, active: readonly object[]): void {
  const { namespace, server } = simulation;
  for (const { metadata } of server.store.all(cronJobs)) {
    if (metadata.namespace !== namespace) continue;
    const target = path(cronJobs, { namespace, name: metadata.name, subresource: 'status' });
    simulation.request({ method: 'PUT', path: target, body: { status: { active } } });
  }
}

const nothingOf = (spec: Json): Json => Object.fromEntries(Object.keys(spec).map((name) => [name, null]));

/** A setting of the MySQLRollout, and for a while only. Later it is what is given, or nothing. */
function settingFor(simulation: Simulation, forMilliseconds: number, spec: Json, later = nothingOf(spec)): boolean {
  const isSet = simulation.setting(spec);
  simulation.clock.after(forMilliseconds, () => void simulation.setting(later));
  return isSet;
}

const setting = (sentence: string, spec: Json, later?: Json, hindrance?: Hindrance): Act<Lasting> =>
  act(
    sentence,
    (simulation, { forMilliseconds }, strikes) => strikes(settingFor(simulation, forMilliseconds, spec, later)),
    hindrance,
  );

const annotated = (sentence: string, name: string): Act<Lasting> =>
  act(sentence, (simulation, { forMilliseconds }, strikes) => strikes(annotateFor(simulation, name, forMilliseconds)));

const backup = (sentence: string, by: 'schedule' | 'hand'): Act<Lasting> =>
  act(sentence, (simulation, { forMilliseconds }, strikes) => {
    const job = beginBackup(simulation, by);
    strikes(job !== null);
    simulation.clock.after(forMilliseconds, () => job !== null && completeBackup(simulation, job));
  });

/** A request that may be made of every cluster. */
const request = (
  sentence: string,
  wanted: Omit<Parameters<typeof asked>[1], 'path'> & { readonly path: (simulation: Simulation) => string },
  hindrance?: Hindrance,
): Act<unknown> =>
  act(
    sentence,
    (simulation, _, strikes) => strikes(asked(simulation, { ...wanted, path: wanted.path(simulation) })),
    hindrance,
  );

const strangerName = podName(7);

/** The labels of a member by which MOCO's objects select it, and no owner: a copy for a test, as people make them. */
function addStranger(simulation: Simulation, name: string): boolean {
  const { namespace, members } = simulation;
  const [like] = members;
  if (like === undefined) return false;
  const { [revisionHashLabel]: _, ...labels } = like.metadata.labels ?? {};
  const { nodeName: __, ...spec } = record(like['spec']);
  const containers = (spec['containers'] as readonly Json[]).map((one) => ({ ...one, image: 'mysql:8.4.0-missing' }));
  const body = { metadata: { name, labels }, spec: { ...spec, containers } };
  return asked(simulation, { method: 'POST', path: path(pods, { namespace }), body });
}

/** What does not work, and what replaces it after a while. */
interface Corrected extends Lasting {
  readonly image: string;
  readonly corrected: string;
}

/** The nodes may have a sidecar's image already. */
type Change =
  | { readonly part: 'label' | 'cpu'; readonly value: string }
  | { readonly part: 'sidecar'; readonly value: string; readonly pulled: boolean };

/** What the user does, and other people. */
export const actsOfPeople = {
  rollOut: act<{ readonly image: string }>(
    'the user asks for an image',
    (simulation, { image }) => {
      simulation.struck(image === firstImage ? 'revert' : 'change');
      setImage(simulation, image);
    },
    { isUneventful: true },
  ),
  rollOutBad: act<Corrected>(
    'the user asks for an image that crashes, is missing, hangs or never gets ready, and corrects it later',
    (simulation, { image, corrected, forMilliseconds }, strikes) => {
      setImage(simulation, image);
      simulation.clock.after(forMilliseconds, () => {
        strikes(true);
        setImage(simulation, corrected);
      });
    },
  ),
  changePod: act<Change>(
    'the user changes a label, a sidecar or the CPU of the pods, which may be done while they run',
    (simulation, change, strikes) => {
      if (change.part === 'sidecar' && change.pulled) simulation.nodeImages.bring(change.value);
      if (change.part !== 'label') noteInPlace(simulation, change.part);
      strikes(setPart(simulation, change.part, change.value));
    },
  ),
  /** The nodes have reported the image, and have lost it since. */
  badSidecar: act<Corrected>(
    'the user asks for a sidecar whose image is missing, in pods that may be changed while they run',
    (simulation, { image, corrected, forMilliseconds }, strikes) => {
      for (const one of [image, corrected]) simulation.nodeImages.bring(one);
      setPart(simulation, 'sidecar', image);
      simulation.clock.after(forMilliseconds, () => {
        strikes(true);
        setPart(simulation, 'sidecar', corrected);
      });
    },
  ),
  upgradeMoco: act<{ readonly agent: string; readonly pulled: boolean }>(
    'MOCO is upgraded, with another agent that the nodes may have or not',
    (simulation, { agent, pulled }, strikes) => {
      if (pulled) simulation.nodeImages.bring(agent);
      simulation.wanted.agent = agent;
      simulation.moco.upgradeAgent(agent);
      strikes(true);
    },
  ),
  pause: setting('the user pauses the rollout for a while', { paused: true }),
  keepBelow: act<Lasting & { readonly partition: number }>(
    'the user keeps the lower members as they are for a while',
    (simulation, { partition, forMilliseconds }, strikes) =>
      strikes(settingFor(simulation, forMilliseconds, { partition })),
  ),
  /** In the end there are no windows. */
  maintenance: act<Lasting & { readonly openMilliseconds: number }>(
    'the user has a maintenance window that closes, and opens again a minute later',
    (simulation, { openMilliseconds, forMilliseconds }, strikes) =>
      strikes(settingFor(simulation, forMilliseconds, twoWindows(simulation.wall(), openMilliseconds))),
  ),
  allow: act<Lasting & { readonly maxUnavailable: number | string }>(
    'the user lets more members be away at once for a while',
    (simulation, { maxUnavailable, forMilliseconds }, strikes) =>
      strikes(settingFor(simulation, forMilliseconds, { maxUnavailable })),
  ),
  usePartitions: setting(
    'the user has members updated by partitions for a while',
    { strategy: 'Partition' },
    undefined,
    { blinds: true },
  ),
  stopClustering: annotated("the user stops MOCO's clustering for a while", clusteringStoppedAnnotation),
  stopReconciliation: annotated("the user stops MOCO's reconciliation for a while", reconciliationStoppedAnnotation),
  forceRollingUpdate: annotated(
    "the user forces Kubernetes' own rolling update for a while",
    forceRollingUpdateAnnotation,
  ),
  goOffline: act<Lasting>('the user takes the cluster offline for a while', (simulation, what, strikes) => {
    if (!simulation.isComplete(simulation.wanted.image)) simulation.situations.find('offlineInMidRollout');
    strikes(patchCluster(simulation, { spec: { offline: true } }));
    simulation.clock.after(what.forMilliseconds, () => patchCluster(simulation, { spec: { offline: null } }));
  }),
  scale: act<{ readonly replicas: number }>('the user wants two more members', (simulation, { replicas }, strikes) => {
    simulation.wanted.replicas = replicas;
    strikes(patchCluster(simulation, { spec: { replicas } }));
  }),
  growVolumes: act<{ readonly size: string }>(
    'the user wants bigger volumes: MOCO makes the StatefulSet again',
    (simulation, { size }, strikes) => strikes(growVolumes(simulation, size)),
  ),
  recreateCluster: act<unknown>('the user deletes the cluster and makes it again', (simulation, _, strikes) =>
    strikes(recreateCluster(simulation)),
  ),
  manual: setting('the user lets the primary wait for approval for a while', { primaryUpdatePolicy: 'Manual' }),
  keepLost: setting('the user wants members whose pods another client deletes to keep their revision, for a while', {
    lostMembers: 'KeepRevision',
  }),
  stopInPlace: setting(
    'the user takes other CPU back and turns updates in place off, for a while',
    { inPlace: { mode: 'Never' } },
    { inPlace: { mode: 'IfPossible' } },
  ),
  stopPreflight: setting(
    'the user wants no images fetched any more before members are taken, for a while',
    { preflight: 'Never' },
    { preflight: 'Nodes' },
  ),
  /** As `kubectl moco-rollout override` writes it. */
  overridePreflight: act<Lasting & { readonly rule: 'ImageUnavailable' | 'PreflightRunning' }>(
    'the user overrides a rule about images that are fetched before members are taken',
    (simulation, { rule, forMilliseconds }, strikes) => {
      const until = timestamp(simulation.wall() + forMilliseconds);
      const overrides = [{ rule, until, reason: 'the image comes later' }];
      strikes(settingFor(simulation, forMilliseconds, { overrides }));
    },
  ),
  pin: act<OfMember & Lasting>(
    'the user pins a member for a while',
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const pinnedMembers = [{ ordinal, reason: 'kept for a while' }];
      strikes(settingFor(simulation, forMilliseconds, { pinnedMembers }));
    },
  ),
  failCheck: act<Lasting>('a check of the user fails for a while', ({ checks }, { forMilliseconds }, strikes) =>
    checks.failFor(forMilliseconds, strikes),
  ),
  backup: backup("a backup runs: MOCO closes the cluster's PodDisruptionBudget", 'schedule'),
  backUpByHand: backup('a person begins a backup that MOCO does not know of', 'hand'),
  deletePod: act<OfMember>('another client deletes a member', (simulation, { ordinal }, strikes) =>
    strikes(deletePod(simulation, ordinal)),
  ),
  forceDelete: act<OfMember>(
    'another client deletes a member by force, without a grace period',
    (simulation, { ordinal }, strikes) => strikes(forceDelete(simulation, ordinal)),
  ),
  evictPod: act<OfMember>('another client evicts a member', (simulation, { ordinal }, strikes) =>
    strikes(evict(simulation, ordinal)),
  ),
  recreateStatefulSet: request('a person deletes the StatefulSet and leaves its pods; MOCO makes it again', {
    method: 'DELETE',
    path: statefulSetPath,
    body: { propagationPolicy: 'Orphan' },
  }),
  removeRollout: request(
    'a person deletes the MySQLRollout',
    { method: 'DELETE', path: rolloutPath },
    { blinds: true },
  ),
  touchRollout: act<unknown>(
    'a person annotates the MySQLRollout',
    (simulation, _, strikes) => {
      const annotations = { 'example.com/touched': String(simulation.clock.nowMilliseconds) };
      strikes(
        asked(simulation, { method: 'PATCH', path: rolloutPath(simulation), body: { metadata: { annotations } } }),
      );
    },
    { isUneventful: true },
  ),
  copyRollout: act<Lasting>(
    'the MySQLRollout is overwritten by one that belongs to another cluster, and deleted later',
    (simulation, { forMilliseconds }, strikes) => {
      simulation.clock.after(
        forMilliseconds,
        () => void asked(simulation, { method: 'DELETE', path: rolloutPath(simulation) }),
      );
      const body = { metadata: { ownerReferences: [foreignOwner] } };
      strikes(asked(simulation, { method: 'PATCH', path: rolloutPath(simulation), body }));
    },
    { blinds: true, impedes: true },
  ),
  keepRollout: act<Lasting>(
    'a person deletes the MySQLRollout, and the finalizer of another program keeps it for a while',
    (simulation, { forMilliseconds }, strikes) => {
      const finalizers = (list: readonly string[]): boolean =>
        asked(simulation, { method: 'PATCH', path: rolloutPath(simulation), body: { metadata: { finalizers: list } } });
      simulation.clock.after(forMilliseconds, () => finalizers([]));
      const isKept = finalizers(['example.com/keeps']);
      strikes(isKept && asked(simulation, { method: 'DELETE', path: rolloutPath(simulation) }));
    },
    { blinds: true, impedes: true },
  ),
  foreignDemote: act<OfMember & Lasting>(
    'another client demotes a member',
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      const demote = (value: string | null): boolean => {
        const body = { metadata: { annotations: { [demoteAnnotation]: value } } };
        return asked(simulation, { method: 'PATCH', path: podPath(simulation, ordinal), body });
      };
      strikes(demote(annotationOn));
      simulation.clock.after(forMilliseconds, () => void demote(null));
    },
  ),
  foreignPod: act<Lasting>(
    'a pod of another client has the labels of a member, and the name of one that there could be',
    (simulation, { forMilliseconds }, strikes) => {
      strikes(addStranger(simulation, strangerName));
      const target = path(pods, { namespace: simulation.namespace, name: strangerName });
      const remove = (): void =>
        void asked(simulation, { method: 'DELETE', path: target, body: { gracePeriodSeconds: 0 } });
      simulation.clock.after(forMilliseconds, remove);
    },
  ),
  freezeFleet: act<Lasting>(
    'a person freezes the whole fleet by a policy for a while',
    (simulation, { forMilliseconds }, strikes) => {
      const body = { metadata: { name: 'freeze' }, spec: { enforced: { paused: true } } };
      strikes(asked(simulation, { method: 'POST', path: path(policyKind), body }));
      const target = path(policyKind, { name: 'freeze' });
      simulation.clock.after(
        forMilliseconds,
        () => void asked(simulation, { method: 'DELETE', path: target, body: {} }),
      );
    },
  ),
  labelMember: act<OfMember & Lasting>(
    'a person gives a member the label of a pod that fetches images',
    (simulation, { ordinal, forMilliseconds }, strikes) => {
      strikes(labelMember(simulation, ordinal, clusterName));
      simulation.clock.after(forMilliseconds, () => void labelMember(simulation, ordinal, null));
    },
  ),
  foreignFetchers: act<Lasting>(
    'pods of another client have the label or the name of a pod that fetches images',
    ({ fetchers }, { forMilliseconds }, strikes) => strikes(fetchers.imitateFor(forMilliseconds)),
  ),
};
