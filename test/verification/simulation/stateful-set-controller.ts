import { controllerRevisions, persistentVolumeClaims, persistentVolumes, pods } from '../../../src/kube/resource.ts';
import { revisionHashLabel } from '../../../src/moco/names.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { isReady } from '../../support/api-server/eviction.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { revisionNameOf } from './template-revision.ts';

const actor = 'statefulset-controller';

export interface StatefulSetOptions {
  /** From Kubernetes 1.37 on `currentRevision` follows under OnDelete too; before, it never moves. */
  readonly movesCurrentRevision: boolean;
  /** By the name of their revision, as ControllerRevisions keep them: filled and read here. */
  readonly templates: Map<string, unknown>;
}

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly partition?: number } | null;
}

/**
 * One run of the StatefulSet controller of Kubernetes 1.35 for one StatefulSet of Parallel pod management: creates
 * missing pods, adopts orphans, replaces the next pod of a rolling update, and writes the status.
 */
export function syncStatefulSet(server: ApiServer, set: StoredObject, options: StatefulSetOptions): void {
  if (set.metadata.deletionTimestamp !== undefined) return;
  const spec = record(set['spec']);
  const replicas = Number(spec['replicas'] ?? 1);
  const before = record(set['status']);
  const updateRevision = revisionNameOf(set.metadata.name, spec['template']);
  options.templates.set(updateRevision, spec['template']);
  keepRevision(server, set, updateRevision);
  const currentRevision = currentRevisionOf(server, set, before['currentRevision']) ?? updateRevision;
  const strategy = record(spec['updateStrategy']) as Strategy;
  const members = ownPods(server, set);
  for (const [ordinal, pod] of members) {
    if (ordinal >= replicas) remove(server, pod);
    else if (hasEnded(pod)) remove(server, pod);
  }
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    if (members.has(ordinal)) continue;
    const partition = strategy.type === 'RollingUpdate' ? (strategy.rollingUpdate?.partition ?? 0) : 0;
    const old = ordinal < partition && currentRevision !== updateRevision;
    create(server, set, ordinal, old ? currentRevision : updateRevision, options);
  }
  if (strategy.type === 'RollingUpdate') roll(server, set, replicas, strategy, updateRevision);
  writeStatus(server, set, { replicas, strategy, currentRevision, updateRevision, options });
}

/**
 * The one of the status; `null` if no ControllerRevision has that name any more: then it is the update revision (1.36.3,
 * stateful_set_control.go, getStatefulSetRevisions).
 */
function currentRevisionOf(
  { store }: ApiServer,
  { metadata: { namespace = '' } }: StoredObject,
  name: unknown,
): string | null {
  return typeof name === 'string' && store.get(controllerRevisions, namespace, name) !== null ? name : null;
}

/** Where the program reads the template of a revision. */
function keepRevision({ store }: ApiServer, { metadata: { namespace = '' }, spec }: StoredObject, name: string): void {
  if (store.get(controllerRevisions, namespace, name) !== null) return;
  const metadata = { namespace, name, uid: name, resourceVersion: '' };
  store.put(controllerRevisions, { metadata, data: { spec: { template: record(spec)['template'] } } });
}

function ordinalOf({ metadata }: StoredObject): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));
}

function isOf(set: StoredObject, pod: StoredObject): boolean {
  const labels = record(record(record(set['spec'])['selector'])['matchLabels']);
  return (
    pod.metadata.namespace === set.metadata.namespace &&
    pod.metadata.name.startsWith(`${set.metadata.name}-`) &&
    Object.entries(labels).every(([name, value]) => pod.metadata.labels?.[name] === value)
  );
}

/** By ordinal. A pod without an owner is adopted, one of another owner is ignored. */
function ownPods(server: ApiServer, set: StoredObject): ReadonlyMap<number, StoredObject> {
  const found = new Map<number, StoredObject>();
  for (const pod of server.store.all(pods)) {
    if (!isOf(set, pod)) continue;
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner === undefined && pod.metadata.deletionTimestamp === undefined) {
      const body = { metadata: { uid: pod.metadata.uid, ownerReferences: [ownedBy(set)] } };
      server.handle({ method: 'PATCH', path: podPath(pod), body, actor });
    } else if (owner !== undefined && owner.uid !== set.metadata.uid) continue;
    found.set(ordinalOf(pod), server.store.get(pods, pod.metadata.namespace ?? '', pod.metadata.name) ?? pod);
  }
  return found;
}

function podPath({ metadata }: StoredObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}

function ownedBy({ metadata }: StoredObject) {
  const { name, uid } = metadata;
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true, blockOwnerDeletion: true };
}

function hasEnded(pod: StoredObject): boolean {
  const phase = record(pod['status'])['phase'];
  return (phase === 'Failed' || phase === 'Succeeded') && pod.metadata.deletionTimestamp === undefined;
}

function remove(server: ApiServer, pod: StoredObject): void {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  server.handle({ method: 'DELETE', path: podPath(pod), body: { preconditions: { uid: pod.metadata.uid } }, actor });
}

function create(
  server: ApiServer,
  set: StoredObject,
  ordinal: number,
  revision: string,
  { templates }: StatefulSetOptions,
): void {
  const { namespace, name } = set.metadata;
  const spec = record(set['spec']);
  const template = record(templates.get(revision) ?? spec['template']);
  const podName = `${name}-${ordinal}`;
  const claimTemplates = (spec['volumeClaimTemplates'] ?? []) as readonly Json[];
  for (const claim of claimTemplates) {
    const { metadata, spec: claimSpec } = claim;
    const claimName = `${String(record(metadata)['name'])}-${podName}`;
    const existing = server.store.get(persistentVolumeClaims, namespace ?? '', claimName);
    // stateful_pod_control.go, createPersistentVolumeClaims: a claim that is being deleted keeps the pod from being created.
    if (existing?.metadata.deletionTimestamp !== undefined) return;
    if (existing !== null) continue;
    const labels = record(record(template['metadata'])['labels']);
    const finalizers = ['kubernetes.io/pvc-protection'];
    const body = { metadata: { ...record(metadata), name: claimName, labels, finalizers }, spec: claimSpec };
    server.handle({ method: 'POST', path: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, body, actor });
    bind(server, namespace ?? '', claimName);
  }
  const labels = { ...record(record(template['metadata'])['labels']), [revisionHashLabel]: revision };
  const metadata = { ...record(template['metadata']), name: podName, labels, ownerReferences: [ownedBy(set)] };
  const volumes = claimTemplates.map((claim) => {
    const claimTemplate = String(record(claim['metadata'])['name']);
    return { name: claimTemplate, persistentVolumeClaim: { claimName: `${claimTemplate}-${podName}` } };
  });
  const body = { metadata, spec: { ...record(template['spec']), volumes } };
  server.handle({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods`, body, actor });
}

/** The highest ordinal that isn't at the update revision, while every higher one is healthy. */
function roll(
  server: ApiServer,
  set: StoredObject,
  replicas: number,
  { rollingUpdate }: Strategy,
  updateRevision: string,
): void {
  const members = ownPods(server, set);
  for (let ordinal = replicas - 1; ordinal >= (rollingUpdate?.partition ?? 0); ordinal--) {
    const pod = members.get(ordinal);
    if (pod === undefined) return;
    const terminating = pod.metadata.deletionTimestamp !== undefined;
    if (pod.metadata.labels?.[revisionHashLabel] !== updateRevision && !terminating) {
      remove(server, pod);
      return;
    }
    if (terminating || !isReady(pod)) return;
  }
}

interface Look {
  readonly replicas: number;
  readonly strategy: Strategy;
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly options: StatefulSetOptions;
}

function writeStatus(server: ApiServer, set: StoredObject, look: Look): void {
  const { replicas, strategy, currentRevision, updateRevision, options } = look;
  const { namespace, name, generation } = set.metadata;
  const members = [...ownPods(server, set).values()];
  const present = members.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const at = (revision: string): number =>
    present.filter(({ metadata }) => metadata.labels?.[revisionHashLabel] === revision).length;
  const readyReplicas = members.filter(isReady).length;
  const updatedReplicas = at(updateRevision);
  const done = updatedReplicas === replicas && readyReplicas === replicas && members.length === replicas;
  const moves = strategy.type === 'RollingUpdate' || options.movesCurrentRevision;
  const current = done && moves ? updateRevision : currentRevision;
  const status = {
    observedGeneration: generation,
    replicas: members.length,
    readyReplicas,
    availableReplicas: readyReplicas,
    currentReplicas: at(current),
    updatedReplicas,
    currentRevision: current,
    updateRevision,
    collisionCount: 0,
  };
  const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}/status`;
  server.handle({ method: 'PUT', path, body: { metadata: { uid: set.metadata.uid }, status }, actor });
}

/** As a provisioner does: a volume of its own for each claim. */
export function bind({ store }: ApiServer, namespace: string, claimName: string): void {
  const claim = store.get(persistentVolumeClaims, namespace, claimName);
  if (claim === null) return;
  const { uid } = claim.metadata;
  const volumeName = `pvc-${uid}`;
  const metadata = { name: volumeName, uid: `volume-${uid}` } as StoredObject['metadata'];
  store.put(persistentVolumes, { apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec: { claimRef: { uid } } });
  store.put(persistentVolumeClaims, {
    ...claim,
    spec: { ...record(claim['spec']), volumeName },
    status: { phase: 'Bound' },
  });
}
