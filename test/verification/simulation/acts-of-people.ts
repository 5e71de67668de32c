import { rolloutKind } from '../../../src/api/rollout.ts';
import { cronJobs, jobs, path, persistentVolumeClaims, pods, statefulSets } from '../../../src/kube/resource.ts';
import { annotationOn, clusterKind, demotedForAnnotation, preflightLabel } from '../../../src/moco/names.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { dailyWindow } from '../../support/daily-window.ts';
import { dataVolume, jobLabels } from '../../support/moco/names.ts';
import { timestamp } from '../../support/moment.ts';
import { isOpen } from '../witness/maintenance.ts';
import type { WitnessedWindow } from '../witness/objects.ts';
import type { Happening } from './happening.ts';
import { podTemplateOf } from './pod-template.ts';
import { clusterName, namespace, type Simulation } from './simulation.ts';

// Requests of the user and others to the API server. Each returns whether it succeeded.

const statefulSet = `moco-${clusterName}`;
const clusterPath = path(clusterKind, { namespace, name: clusterName });

export const statefulSetPath = path(statefulSets, { namespace, name: statefulSet });
export const podName = (ordinal: number): string => `${statefulSet}-${ordinal}`;
export const podPath = (ordinal: number): string => path(pods, { namespace, name: podName(ordinal) });

/** Whether the API server has agreed. */
export function asked(simulation: Simulation, request: Parameters<Simulation['request']>[0]): boolean {
  return simulation.request(request).code < 300;
}

export function evict(simulation: Simulation, ordinal: number): boolean {
  return asked(simulation, { method: 'POST', path: `${podPath(ordinal)}/eviction`, body: {} });
}

/** With the label by which the program lists the pods that fetch images, or without it. */
export function labelMember(simulation: Simulation, ordinal: number, value: string | null): boolean {
  const body = { metadata: { labels: { [preflightLabel]: value } } };
  return asked(simulation, { method: 'PATCH', path: podPath(ordinal), body });
}

/** As `kubectl moco-rollout override` writes it. */
export function overrideOf(
  { rule, forMilliseconds }: Extract<Happening, { kind: 'overridePreflight' }>,
  wallMilliseconds: number,
): Json {
  return { rule, until: timestamp(wallMilliseconds + forMilliseconds), reason: 'the image comes later' };
}

/** As `kubectl delete --force` does: nobody waits for the kubelet. */
export function forceDelete(simulation: Simulation, ordinal: number): boolean {
  return asked(simulation, { method: 'DELETE', path: podPath(ordinal), body: { gracePeriodSeconds: 0 } });
}

export function patchCluster(simulation: Simulation, body: Json): boolean {
  return asked(simulation, { method: 'PATCH', path: clusterPath, body });
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
export function noteInPlace({ server, checks, situations, wall }: Simulation, part: 'sidecar' | 'cpu'): void {
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

export function growVolumes(simulation: Simulation, size: string): boolean {
  const templates = record(simulation.cluster?.['spec'])['volumeClaimTemplates'] as readonly Json[] | undefined;
  const grown = (templates ?? []).map((template) => {
    const spec = record(template['spec']);
    return { ...template, spec: { ...spec, resources: { requests: { storage: size } } } };
  });
  return patchCluster(simulation, { spec: { volumeClaimTemplates: grown } });
}

/** Its pod keeps it. */
export function deleteClaim(simulation: Simulation, ordinal: number): boolean {
  const name = `${dataVolume}-${podName(ordinal)}`;
  return asked(simulation, { method: 'DELETE', path: path(persistentVolumeClaims, { namespace, name }), body: {} });
}

/** A pod without an owner is not deleted: the next StatefulSet adopts it. */
const isOwned = ({ metadata }: StoredObject): boolean => (metadata.ownerReferences?.length ?? 0) > 0;

/** Created again once the old one and its dependents are deleted. */
export function recreateCluster(simulation: Simulation): boolean {
  const { clock, server } = simulation;
  const goes = asked(simulation, { method: 'DELETE', path: clusterPath, body: {} });
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
export function maintenance(wallMilliseconds: number, openMilliseconds: number): Json {
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
  const { store } = simulation.server;
  const [cronJob] = store.all(cronJobs);
  if (cronJob === undefined) return null;
  const before = store.all(jobs).filter(({ metadata }) => metadata.labels?.['by'] === by);
  const name = `${by}-${before.length}`;
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob.metadata.name, uid: cronJob.metadata.uid };
  const metadata = { name, labels: { ...jobLabels(clusterName), by }, ownerReferences: [owner] };
  const began = asked(simulation, { method: 'POST', path: path(jobs, { namespace }), body: { metadata, spec: {} } });
  if (began && by === 'schedule') listActive(simulation, [{ kind: 'Job', name }]);
  return began ? name : null;
}

export function completeBackup(simulation: Simulation, name: string): void {
  const status = { conditions: [{ type: 'Complete', status: 'True' }] };
  const target = path(jobs, { namespace, name, subresource: 'status' });
  simulation.request({ method: 'PUT', path: target, body: { status } });
  if (name.startsWith('schedule')) listActive(simulation, []);
}

function listActive(simulation: Simulation, active: readonly object[]): void {
  for (const { metadata } of simulation.server.store.all(cronJobs)) {
    const target = path(cronJobs, { namespace, name: metadata.name, subresource: 'status' });
    simulation.request({ method: 'PUT', path: target, body: { status: { active } } });
  }
}
