import type { Faults } from './faults.ts';
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
}

const untouched: Database = { process: null, writable: false, source: null, replicating: false, draining: false };

/** The databases for these pods: processes start and end independently of MOCO. */
export function observeDatabases(
  before: readonly Database[],
  pods: readonly Pod[],
  replicas: number,
): readonly Database[] {
  const members = byOrdinal(pods);
  return Array.from({ length: replicas }, (_, ordinal) => {
    const database = before[ordinal] ?? untouched;
    const pod = members[ordinal];
    const process = pod === undefined ? null : processOf(pod);
    return process === database.process
      ? database
      : { ...database, process, writable: false, replicating: false, draining: false };
  });
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
    answers(databases, ordinal, faults) &&
    answers(databases, database.source, faults)
  );
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
    (database, ordinal) => database.source === source && isConnected(databases, ordinal, faults),
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
