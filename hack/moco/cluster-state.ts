import { annotationOn, demoteAnnotation } from '../../src/moco/names.ts';
import { answers, type Database, isConnected } from './databases.ts';
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

/** What one pass of MOCO's clustering has gathered. */
export interface Gathered {
  readonly cluster: MySQLCluster;
  /** By ordinal; empty while the cluster is offline. */
  readonly members: readonly Pod[];
  readonly databases: readonly Database[];
  readonly faults: Faults;
}

/** MOCO's decision, in its order of questions. */
export function clusterState(gathered: Gathered): ClusterState {
  const { cluster } = gathered;
  if (cluster.spec.offline === true) {
    return 'Offline';
  }
  if (cluster.spec.replicationSourceSecretName !== undefined && cluster.status?.cloned !== true) {
    return 'Cloning';
  }
  if (cluster.spec.restore !== undefined && cluster.status?.restoredTime === undefined) {
    return 'Restoring';
  }
  if (isHealthy(gathered)) {
    return 'Healthy';
  }
  if (isDegraded(gathered)) {
    return 'Degraded';
  }
  if (answers(gathered.databases, primaryIndex(cluster), gathered.faults)) {
    return 'Incomplete';
  }
  return electable(gathered).length > Math.floor(cluster.spec.replicas / 2) ? 'Failed' : 'Lost';
}

export function primaryIndex(cluster: MySQLCluster): number {
  return cluster.status?.currentPrimaryIndex ?? 0;
}

export function replicaOrdinals({ cluster }: Pick<Gathered, 'cluster'>): number[] {
  const ordinals = Array.from({ length: cluster.spec.replicas }, (_, ordinal) => ordinal);
  return ordinals.filter((ordinal) => ordinal !== primaryIndex(cluster));
}

/** Replicas that a failover may choose from. Their pods needn't be ready; their mysqld has to run. */
export function electable(gathered: Gathered): number[] {
  const { databases, faults } = gathered;
  return replicaOrdinals(gathered).filter(
    (ordinal) =>
      answers(databases, ordinal, faults) && databases[ordinal]?.source !== null && !faults.errant.includes(ordinal),
  );
}

/** Replicas that a switchover may choose from. A pod that is terminating may be one of them. */
export function candidates(gathered: Gathered): number[] {
  return replicaOrdinals(gathered).filter((ordinal) => isGoodReplica(gathered, ordinal));
}

/** The primary is to step down: its pod is on its way out, or somebody has asked for it. */
export function needsSwitch({ cluster, members }: Gathered): boolean {
  const primary = members[primaryIndex(cluster)];
  return (
    primary !== undefined &&
    (primary.metadata.deletionTimestamp !== undefined ||
      primary.metadata.annotations?.[demoteAnnotation] === annotationOn)
  );
}

function isGoodReplica({ cluster, members, databases, faults }: Gathered, ordinal: number): boolean {
  const pod = members[ordinal];
  const database = databases[ordinal];
  return (
    pod !== undefined &&
    database !== undefined &&
    isReady(pod) &&
    answers(databases, ordinal, faults) &&
    !database.writable &&
    database.source === primaryIndex(cluster) &&
    !faults.errant.includes(ordinal)
  );
}

function takesWrites({ cluster, databases, faults }: Gathered): boolean {
  const primary = primaryIndex(cluster);
  return answers(databases, primary, faults) && databases[primary]?.writable === true;
}

function isHealthy(gathered: Gathered): boolean {
  const replicas = replicaOrdinals(gathered);
  return (
    gathered.members.every(isReady) &&
    takesWrites(gathered) &&
    replicas.every((ordinal) => isGoodReplica(gathered, ordinal)) &&
    replicas.every((ordinal) => isConnected(gathered.databases, ordinal, gathered.faults))
  );
}

function isDegraded(gathered: Gathered): boolean {
  const { cluster, members, databases, faults } = gathered;
  const half = Math.floor(cluster.spec.replicas / 2);
  const primary = members[primaryIndex(cluster)];
  const connected = replicaOrdinals(gathered).filter((ordinal) => isConnected(databases, ordinal, faults));
  const good = candidates(gathered).length;
  return (
    primary !== undefined &&
    isReady(primary) &&
    takesWrites(gathered) &&
    connected.length >= half &&
    good >= half &&
    good !== cluster.spec.replicas - 1
  );
}
