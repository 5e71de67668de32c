import { annotationOn, demoteAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { answers, type Database, isConnected, isUnconfigurable } from './databases.ts';
import { type ClusteringFacts, has, type Members, membersWhere, stateOf, wantedRole } from './decisions.ts';
import type { Faults } from './faults.ts';
import type { MySQLCluster, Pod } from './objects.ts';
import { isReady } from './pods.ts';

/** What MOCO calls the state of a cluster; the reason of the conditions it writes. */
export type ClusterState =
  | 'Offline'
  | 'Cloning'
  | 'Restoring'
  | 'Healthy'
  | 'Degraded'
  | 'Failed'
  | 'Lost'
  | 'Incomplete';

/** What one pass of MOCO's clustering has read. */
export interface Snapshot {
  readonly cluster: MySQLCluster;
  /** By ordinal; empty while the cluster is offline. */
  readonly members: readonly Pod[];
  readonly databases: readonly Database[];
  readonly faults: Faults;
}

/** MOCO's decision, in its order of questions. */
export function clusterState(snapshot: Snapshot): ClusterState {
  const { cluster } = snapshot;
  if (cluster.spec.offline === true) {
    return 'Offline';
  }
  if (cluster.spec.replicationSourceSecretName !== undefined && cluster.status?.cloned !== true) {
    return 'Cloning';
  }
  if (cluster.spec.restore !== undefined && cluster.status?.restoredTime === undefined) {
    return 'Restoring';
  }
  return stateOf(factsOf(snapshot));
}

export function primaryIndex(cluster: MySQLCluster): number {
  return cluster.status?.currentPrimaryIndex ?? 0;
}

export function replicaOrdinals({ cluster }: Pick<Snapshot, 'cluster'>): number[] {
  const ordinals = Array.from({ length: cluster.spec.replicas }, (_, ordinal) => ordinal);
  return ordinals.filter((ordinal) => ordinal !== primaryIndex(cluster));
}

/** What MOCO's decisions ask for, from objects and databases. */
export function factsOf(snapshot: Snapshot): ClusteringFacts {
  const { cluster, members, databases, faults } = snapshot;
  const { replicas } = cluster.spec;
  const primary = primaryIndex(cluster);
  const where = (holds: (ordinal: number, database: Database | undefined) => boolean): Members =>
    membersWhere(replicas, (ordinal) => holds(ordinal, databases[ordinal]));
  const errant = where((ordinal) => faults.errant.includes(ordinal));
  const answering = where((ordinal) => answers(databases, ordinal, faults));
  const limit = cluster.spec.maxDelaySecondsForPodDeletion ?? 0;
  const role = (ordinal: number): string | null => members[ordinal]?.metadata.labels?.[roleLabel] ?? null;
  return {
    replicas,
    primary,
    errant,
    answering,
    ready: where((ordinal) => members[ordinal] !== undefined && isReady(members[ordinal])),
    following: where((_, database) => database?.writable === false && database.source === primary),
    connected: where((ordinal) => isConnected(databases, ordinal, faults)),
    configured: where((_, database) => database !== undefined && database.source !== null),
    writable: databases[primary]?.writable === true,
    stepsDown: stepsDown(members[primary]),
    lags: limit > 0 && replicaOrdinals(snapshot).some((ordinal) => (faults.lagSeconds[ordinal] ?? 0) > limit),
    mislabelled: where(
      (ordinal) =>
        members[ordinal] !== undefined &&
        role(ordinal) !== wantedRole({ primary, errant }, ordinal) &&
        (role(ordinal) !== null || has(answering, ordinal)),
    ),
    misconfigured: where(
      (ordinal, database) =>
        ordinal !== primary &&
        has(answering, ordinal) &&
        database !== undefined &&
        (isUnconfigurable(database, faults) || !isAsConfigured(database, has(errant, ordinal) ? null : primary)),
    ),
  };
}

/** The member that a replica follows; `null` for none. */
function isAsConfigured({ writable, replicating, source }: Database, wanted: number | null): boolean {
  if (writable) return false;
  return wanted === null ? !replicating : replicating && source === wanted;
}

function stepsDown(primary: Pod | undefined): boolean {
  if (primary === undefined) return false;
  const { deletionTimestamp, annotations } = primary.metadata;
  return deletionTimestamp !== undefined || annotations?.[demoteAnnotation] === annotationOn;
}
