import type { ClusterView } from './cluster-view.ts';
import { type Faults, noFaults } from './faults.ts';
import { ordinalOf } from './names.ts';
import type { Pod } from './objects.ts';
import { byOrdinal, processOf } from './pods.ts';

/** What one member's MySQL is and does: known to MySQL alone, and to MOCO when it asks. */
export interface Database {
  /** The process that runs, as `processOf` names it, or `null`. */
  readonly process: string | null;
  /** Takes writes. A fresh process never does. */
  readonly writable: boolean;
  /** The ordinal of its source, kept over restarts; `null` if it was never a replica or is primary. */
  readonly source: number | null;
  /** Its threads run: whatever the source sends is applied. A fresh process starts without them. */
  readonly replicating: boolean;
  /** Made read-only for a switchover. The kubelet allows its probe three failures of 10 s, so it is ready for a while. */
  readonly draining: boolean;
  /**
   * Transactions that it has received and not applied. `stopped`: mysqld has restarted, and with `skip_replica_start` its
   * SQL thread runs only once MOCO starts replication again. The relay log itself is kept (`relay_log_recovery` is off).
   */
  readonly backlog?: 'applying' | 'stopped';
}

const untouched: Database = { process: null, writable: false, source: null, replicating: false, draining: false };

/** The databases for these pods: processes start and end independently of MOCO. */
export function observeDatabases(
  before: readonly Database[],
  pods: readonly Pod[],
  replicas: number,
  faults: Faults = noFaults,
): readonly Database[] {
  const members = byOrdinal(pods);
  return Array.from({ length: replicas }, (_, ordinal) => {
    const database = withBacklog(before[ordinal] ?? untouched, faults.backlog.includes(ordinal));
    const pod = members[ordinal];
    const process = pod === undefined ? null : processOf(pod);
    if (process === database.process) return database;
    const fresh = { ...database, process, writable: false, replicating: false, draining: false };
    return database.backlog === undefined ? fresh : { ...fresh, backlog: 'stopped' };
  });
}

/** A replica begins a long transaction, or is through with it. Where the SQL thread is stopped nothing changes. */
function withBacklog(database: Database, takesLong: boolean): Database {
  if (takesLong && database.backlog === undefined && database.replicating) return { ...database, backlog: 'applying' };
  return !takesLong && database.backlog === 'applying' ? withoutBacklog(database) : database;
}

export function withoutBacklog({ backlog: _, ...database }: Database): Database {
  return database;
}

/** MOCO can't make it replicate, until another pod takes its place. */
export function isUnconfigurable({ process }: Database, { unconfigurable }: Faults): boolean {
  return unconfigurable.some((uid) => process?.startsWith(`${uid}/`) === true);
}

/** Whether MOCO and the other members get an answer. */
export function answers(databases: readonly Database[], ordinal: number, faults: Faults): boolean {
  return (databases[ordinal]?.process ?? null) !== null && !faults.unreachable.includes(ordinal);
}

/** Whether a replica gets what its source commits. */
export function isConnected(databases: readonly Database[], ordinal: number, faults: Faults): boolean {
  const database = databases[ordinal];
  return (
    database !== undefined &&
    database.replicating &&
    database.source !== null &&
    !isUnconfigurable(database, faults) &&
    answers(databases, ordinal, faults) &&
    answers(databases, database.source, faults)
  );
}

/**
 * {@link isServing} of the database of a pod, which may be newer than the one in the view and takes precedence.
 */
export function mysqldReady(
  { cluster, pods }: ClusterView,
  before: readonly Database[],
  faults: Faults,
  pod: Pod,
): boolean {
  const { replicas, maxDelaySeconds = 0 } = cluster.spec;
  const others = pods.filter(({ metadata }) => metadata.name !== pod.metadata.name);
  const databases = observeDatabases(before, [...others, pod], replicas, faults);
  return isServing(databases, ordinalOf(pod.metadata.name), faults, maxDelaySeconds);
}

/**
 * The result of the readiness probe of container mysqld with a working agent and kubelet: ready is a source that
 * accepts writes, or a replica of a living source with less than `maxDelaySeconds` of lag (0: the lag is ignored). The
 * primary of a cluster that replicates from another cluster has to follow that source.
 */
export function isServing(
  databases: readonly Database[],
  ordinal: number,
  faults: Faults,
  maxDelaySeconds: number,
): boolean {
  const database = databases[ordinal];
  if (database === undefined || database.process === null) {
    return false;
  }
  if (database.writable || database.draining) {
    return !faults.upstreamUnavailable;
  }
  const lags = maxDelaySeconds > 0 && (faults.lagSeconds[ordinal] ?? 0) >= maxDelaySeconds;
  return isConnected(databases, ordinal, faults) && !lags;
}

/**
 * A commit is answered once half of the replicas have acknowledged it: MOCO's replication is semi-synchronous and never
 * falls back to asynchronous.
 */
export function acceptsCommits(databases: readonly Database[], faults: Faults): boolean {
  const source = databases.findIndex(({ writable }) => writable);
  const followers = databases.filter(
    (database, ordinal) =>
      database.source === source && !faults.unreceived.includes(ordinal) && isConnected(databases, ordinal, faults),
  );
  return source >= 0 && followers.length >= Math.floor(databases.length / 2);
}

/** The databases with some of them changed. */
export function withDatabase(
  databases: readonly Database[],
  ordinal: number,
  change: Partial<Database>,
): readonly Database[] {
  return databases.map((database, index) => (index === ordinal ? { ...database, ...change } : database));
}
