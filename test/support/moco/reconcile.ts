import { annotationOn, clusteringStoppedAnnotation, reconciliationStoppedAnnotation } from '../../../src/moco/names.ts';
import { grownClaims } from './claim-growth.ts';
import { clusteringStoppedStatus, reconciliationStoppedStatus } from './cluster-status.ts';
import type { ClusterView } from './cluster-view.ts';
import { backupCronJobBody, budgetBody, serviceAccountBody, serviceBodies } from './companions.ts';
import { backupCronJobName, clusterFinalizer, prefixedName } from './names.ts';
import type { KubernetesObject, MySQLCluster } from './objects.ts';
import { ownedValues } from './owned-values.ts';
import { isRecord, same } from './same.ts';
import type { Settings } from './settings.ts';
import { statefulSetBody } from './stateful-set.ts';
import type { Apply, Body, Delete, Patch, Write, WrittenKind } from './write.ts';

/** What one reconciliation of a cluster's objects does. */
export interface Reconciliation {
  /** In order; the first that fails ends the reconciliation as failed. */
  readonly writes: readonly Write[];
  /**
   * Whether it ends with `reconciledStatus`, of success or of failure. Not while a StatefulSet is terminating, which
   * the real one waits for, and not if the reconciliation is stopped or the cluster is being deleted.
   */
  readonly endsWithStatus: boolean;
  /** Happens after all writes and before the status write; not if a write fails. */
  readonly clustering: ClusteringChange;
}

/**
 * The effect of a reconciliation on the cluster's clustering, in MOCO's terms (`clustering/manager.go`): `update`
 * starts it if it doesn't run, and triggers it; `stop` ends it.
 */
export type ClusteringChange = 'update' | 'stop' | 'none';

/**
 * MOCO's reconciler, for the current state of one cluster. Writes nothing if nothing differs. The order is that of
 * `reconcileV1` in `controllers/mysqlcluster_controller.go` of MOCO 0.36: after an error from `reconcileV1StatefulSet`
 * there is no PodDisruptionBudget, no backup job, no restore job and no `ClusterManager.Update`, which alone starts a
 * cluster's clustering.
 */
export function reconcile(view: ClusterView, settings: Settings, wallMilliseconds: number): Reconciliation {
  const { cluster } = view;
  if (cluster.metadata.deletionTimestamp !== undefined) {
    return { writes: finalize(cluster), endsWithStatus: false, clustering: 'stop' };
  }
  if (isReconciliationStopped(cluster)) {
    const clustering = isClusteringStopped(cluster) ? 'stop' : 'update';
    return { writes: stoppedStatuses(cluster, wallMilliseconds), endsWithStatus: false, clustering };
  }
  if (view.statefulSet?.metadata.deletionTimestamp !== undefined) {
    return { writes: [], endsWithStatus: false, clustering: 'none' };
  }
  const claims = grownClaims(view);
  const statefulSet = statefulSetWrite(view, settings);
  const before = [...companions(view), ...claims];
  if (statefulSet?.verb === 'delete') {
    return { writes: [...before, statefulSet], endsWithStatus: false, clustering: 'none' };
  }
  const stopped = isClusteringStopped(cluster) ? clusteringStoppedStatus(cluster, wallMilliseconds) : null;
  return {
    writes: [...before, statefulSet, ...budget(view), cronJob(view), stopped].filter((write) => write !== null),
    endsWithStatus: true,
    clustering: isClusteringStopped(cluster) ? 'stop' : 'update',
  };
}

export function isClusteringStopped(cluster: MySQLCluster): boolean {
  return cluster.metadata.annotations?.[clusteringStoppedAnnotation] === annotationOn;
}

function isReconciliationStopped(cluster: MySQLCluster): boolean {
  return cluster.metadata.annotations?.[reconciliationStoppedAnnotation] === annotationOn;
}

/** One at a time: both are PUTs of the whole status, so the second builds on the result of the first. */
function stoppedStatuses(cluster: MySQLCluster, wallMilliseconds: number): Write[] {
  const clustering = isClusteringStopped(cluster) ? clusteringStoppedStatus(cluster, wallMilliseconds) : null;
  const first = clustering ?? reconciliationStoppedStatus(cluster, wallMilliseconds);
  return first === null ? [] : [first];
}

function finalize(cluster: MySQLCluster): Patch[] {
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(clusterFinalizer)) {
    return [];
  }
  const { name, namespace, uid, resourceVersion } = cluster.metadata;
  const remaining = finalizers.filter((finalizer) => finalizer !== clusterFinalizer);
  const body = { metadata: { resourceVersion, finalizers: remaining } };
  return [{ verb: 'patch', kind: 'MySQLCluster', namespace, name, uid, body }];
}

function companions(view: ClusterView): Apply[] {
  const { cluster } = view;
  const account = applyIfOther(cluster, 'ServiceAccount', view.serviceAccount, serviceAccountBody(cluster));
  const services = serviceBodies(cluster).map(({ name, body }) => {
    const live = view.services.find(({ metadata }) => metadata.name === name) ?? null;
    return applyIfOther(cluster, 'Service', live, body, name);
  });
  return [account, ...services].filter((write) => write !== null);
}

/**
 * Applied only if the fields that MOCO owns differ from the desired ones. A volume claim template is immutable, so a
 * different one means deleting the StatefulSet without its pods first.
 */
function statefulSetWrite(view: ClusterView, settings: Settings): Apply | Delete | null {
  const { cluster, statefulSet } = view;
  const wanted = statefulSetBody(cluster, settings);
  const apply = applyIfOther(cluster, 'StatefulSet', statefulSet, wanted);
  if (apply === null || statefulSet === null) {
    return apply;
  }
  const templates = claimTemplatesOf(ownedValues(statefulSet));
  if (templates === undefined || same(templates, claimTemplatesOf(wanted))) {
    return apply;
  }
  const { name, namespace } = statefulSet.metadata;
  return { verb: 'delete', kind: 'StatefulSet', namespace, name, orphan: true };
}

function claimTemplatesOf(statefulSet: Readonly<Record<string, unknown>>): unknown {
  const spec = statefulSet['spec'];
  return isRecord(spec) ? spec['volumeClaimTemplates'] : undefined;
}

function budget(view: ClusterView): (Apply | Delete)[] {
  const { cluster } = view;
  const wanted = budgetBody(cluster, backupRuns(view));
  const write =
    wanted === null
      ? deleteIfThere(view.budget, 'PodDisruptionBudget')
      : applyIfOther(cluster, 'PodDisruptionBudget', view.budget, wanted);
  return write === null ? [] : [write];
}

function backupRuns(view: ClusterView): boolean {
  return view.cluster.spec.backupPolicyName !== undefined && (view.backupCronJob?.status?.active?.length ?? 0) > 0;
}

function cronJob(view: ClusterView): Apply | Delete | null {
  const wanted = backupCronJobBody(view.cluster);
  const name = backupCronJobName(view.cluster.metadata.name);
  return wanted === null
    ? deleteIfThere(view.backupCronJob, 'CronJob')
    : applyIfOther(view.cluster, 'CronJob', view.backupCronJob, wanted, name);
}

function deleteIfThere(live: KubernetesObject | null, kind: WrittenKind): Delete | null {
  if (live === null || live.metadata.deletionTimestamp !== undefined) {
    return null;
  }
  const { name, namespace } = live.metadata;
  return { verb: 'delete', kind, namespace, name, orphan: false };
}

function applyIfOther(
  cluster: MySQLCluster,
  kind: WrittenKind,
  live: KubernetesObject | null,
  body: Body,
  name = prefixedName(cluster.metadata.name),
): Apply | null {
  if (live !== null && isAsWanted(live, body)) {
    return null;
  }
  return { verb: 'apply', kind, namespace: cluster.metadata.namespace, name, body };
}

/** Identity, which no field manager owns, aside. */
function isAsWanted(live: KubernetesObject, body: Body): boolean {
  const { apiVersion: _, kind: __, metadata, ...rest } = body;
  const { name: ___, namespace: ____, ...wantedMetadata } = isRecord(metadata) ? metadata : {};
  return same(ownedValues(live), { ...rest, metadata: wantedMetadata });
}
