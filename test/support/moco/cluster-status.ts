import type { ClusterView } from './cluster-view.ts';
import { withConditions } from './conditions.ts';
import type { Condition, MySQLCluster, MySQLClusterStatus, StatefulSet } from './objects.ts';
import { same } from './same.ts';
import type { ReplaceStatus } from './write.ts';

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

/** What MOCO writes into the status at the end of every reconciliation, failed ones too. */
export function reconciledStatus(
  view: ClusterView,
  succeeded: boolean,
  wallMilliseconds: number,
): ReplaceStatus | null {
  const { cluster } = view;
  const observedGeneration = cluster.metadata.generation ?? 0;
  const reconciled: Finding = succeeded
    ? { status: 'True', reason: 'ReconcileSuccess', message: 'reconcile successfully' }
    : { status: 'False', reason: 'ReconcileFailed', message: 'reconcile failed' };
  const wanted: readonly Omit<Condition, 'lastTransitionTime'>[] = [
    { type: 'StatefulSetReady', observedGeneration, ...statefulSetReady(view.statefulSet) },
    { type: 'ReconcileSuccess', observedGeneration, ...reconciled },
    {
      type: 'ReconciliationActive',
      status: 'True',
      reason: 'ReconciliationActive',
      message: 'reconciliation is active',
    },
  ];
  return replaceStatus(cluster, {
    ...cluster.status,
    conditions: withConditions(cluster.status, wanted, wallMilliseconds),
    reconcileInfo: { generation: observedGeneration, reconcileVersion: 1 },
  });
}

/** Every pod available, the current revision the update revision, the newest generation observed: nothing more. */
function statefulSetReady(statefulSet: StatefulSet | null): Finding {
  if (statefulSet === null) {
    return { status: 'False', reason: 'StatefulSetNotFound', message: 'StatefulSet not found' };
  }
  const { metadata, spec, status } = statefulSet;
  const ready =
    (status?.availableReplicas ?? 0) === spec.replicas &&
    status?.currentRevision === status?.updateRevision &&
    metadata.generation === status?.observedGeneration;
  return ready
    ? { status: 'True', reason: 'StatefulSetReady', message: 'StatefulSet is ready' }
    : { status: 'False', reason: 'StatefulSetNotReady', message: 'StatefulSet is not ready' };
}

/** Written once when annotation `reconciliation-stopped` is seen; nothing else of the cluster is touched then. */
export function reconciliationStoppedStatus(cluster: MySQLCluster, wallMilliseconds: number): ReplaceStatus | null {
  const inactive = {
    type: 'ReconciliationActive',
    status: 'False' as const,
    reason: 'ReconciliationInactive',
    message: 'reconciliation is inactive',
  };
  const conditions = withConditions(cluster.status, [inactive], wallMilliseconds);
  return replaceStatus(cluster, { ...cluster.status, conditions });
}

/** Written once when the annotation `clustering-stopped` is seen: the state of the databases is unknown from then on. */
export function clusteringStoppedStatus(cluster: MySQLCluster, wallMilliseconds: number): ReplaceStatus | null {
  const unknown = (cluster.status?.conditions ?? [])
    .filter(({ type }) => type === 'Available' || type === 'Healthy')
    .map((condition) => ({ ...condition, status: 'Unknown' as const }));
  const inactive = {
    type: 'ClusteringActive',
    status: 'False' as const,
    reason: 'ClusteringInactive',
    message: 'clustering is inactive',
  };
  const conditions = withConditions(cluster.status, [...unknown, inactive], wallMilliseconds);
  return replaceStatus(cluster, { ...cluster.status, conditions });
}

/**
 * A PUT of the status in MOCO's own types: it drops unknown fields, keeps conditions of foreign types, and omits zero
 * values. `null` if nothing would change.
 */
export function replaceStatus(cluster: MySQLCluster, wanted: MySQLClusterStatus): ReplaceStatus | null {
  const status: MySQLClusterStatus = {
    conditions: wanted.conditions ?? [],
    currentPrimaryIndex: wanted.currentPrimaryIndex ?? 0,
    ...(positive(wanted.syncedReplicas) ? { syncedReplicas: wanted.syncedReplicas } : {}),
    ...(positive(wanted.errantReplicas) ? { errantReplicas: wanted.errantReplicas } : {}),
    ...(wanted.errantReplicaList?.length ? { errantReplicaList: wanted.errantReplicaList } : {}),
    backup: wanted.backup ?? noBackupYet,
    ...(wanted.restoredTime === undefined ? {} : { restoredTime: wanted.restoredTime }),
    ...(wanted.cloned === true ? { cloned: true } : {}),
    reconcileInfo: wanted.reconcileInfo ?? {},
  };
  if (same(status, cluster.status)) {
    return null;
  }
  const { name, namespace } = cluster.metadata;
  return { verb: 'replaceStatus', kind: 'MySQLCluster', namespace, name, body: { ...cluster, status } };
}

function positive(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}

const noBackupYet = {
  binlogFilename: '',
  binlogSize: 0,
  dumpSize: 0,
  elapsed: '0s',
  gtidSet: '',
  sourceIndex: 0,
  sourceUUID: '',
  time: null,
  warnings: null,
  workDirUsage: 0,
};
