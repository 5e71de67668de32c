import { parseMysqlVersion, versionText } from '../core/mysql-versions.ts';
import {
  type CloneProgress,
  mostWrites,
  type OpenWrite,
  type PrimarySaid,
  type ReplicaSaid,
  type ThreadState,
} from '../core/on-demand-facts.ts';
import { MysqlError, type SqlQuery } from './mysql-session.ts';

// All queries to a mysqld, 8.0.22 or later. They only read the state of the server. They never read a row of a user's
// table, and never write.

/** Sets one time zone, so that times can be compared. Also ends statements that run longer than this program waits. */
const session = "SET SESSION time_zone = 'SYSTEM', max_execution_time = 1000";

/** Whether the required instrumentation is on. Without it, `openWritesSql` would miss open writes or DDL statements. */
const showsWrites = `SELECT
  EXISTS (SELECT 1 FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND
  EXISTS (SELECT 1 FROM performance_schema.setup_consumers WHERE NAME = 'global_instrumentation' AND ENABLED = 'YES') AND
  EXISTS (SELECT 1 FROM performance_schema.setup_instruments WHERE NAME = 'wait/lock/metadata/sql/mdl' AND ENABLED = 'YES')`;

const whoItIs = 'SELECT @@GLOBAL.hostname, @@GLOBAL.gtid_executed, @@GLOBAL.version';

/** More than are ever needed: a cluster has a few replicas, and few other clusters replicate from it. */
const mostReplicaAddresses = 50;

/** The replicas that are connected to this mysqld, by the addresses of their connections. */
const replicaAddressesSql = `SELECT DISTINCT PROCESSLIST_HOST FROM performance_schema.threads
  WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%' LIMIT ${mostReplicaAddresses}`;

/**
 * The names of plugins and variables changed in MySQL 8.0.26; MOCO sets the old names. A server has either the old or
 * the new ones.
 */
const semiSyncSql = `SELECT
  (SELECT SUM(VARIABLE_VALUE) FROM performance_schema.global_status
   WHERE VARIABLE_NAME IN ('Rpl_semi_sync_master_clients', 'Rpl_semi_sync_source_clients')),
  (SELECT SUM(VARIABLE_VALUE) FROM performance_schema.global_variables
   WHERE VARIABLE_NAME IN ('rpl_semi_sync_master_wait_for_slave_count', 'rpl_semi_sync_source_wait_for_replica_count')),
  EXISTS (SELECT 1 FROM performance_schema.global_variables
   WHERE VARIABLE_NAME IN ('rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled') AND VARIABLE_VALUE = 'ON'),
  EXISTS (SELECT 1 FROM performance_schema.global_status
   WHERE VARIABLE_NAME IN ('Rpl_semi_sync_slave_status', 'Rpl_semi_sync_replica_status') AND VARIABLE_VALUE = 'ON')`;

/** Errors of replication, except error 3030, which only means that a different worker has failed. */
const replicationSql = `SELECT @@GLOBAL.gtid_executed, c.RECEIVED_TRANSACTION_SET, c.SERVICE_STATE, c.LAST_ERROR_NUMBER, a.SERVICE_STATE,
  COALESCE(
    (SELECT MIN(LAST_ERROR_NUMBER) FROM performance_schema.replication_applier_status_by_worker
     WHERE LAST_ERROR_NUMBER NOT IN (0, 3030)),
    (SELECT MIN(LAST_ERROR_NUMBER) FROM performance_schema.replication_applier_status_by_coordinator
     WHERE LAST_ERROR_NUMBER <> 0), 0)
  FROM performance_schema.replication_connection_status c
  JOIN performance_schema.replication_applier_status a USING (CHANNEL_NAME)`;

/**
 * The writes that a switchover would cut off, because it sets read_only and closes connections. These are sessions with
 * an open transaction that has changed or locked rows, and sessions with a statement that holds the lock of every write
 * and DDL statement (also of `LOCK TABLES … WRITE`). A switchover does not cut off the applier of a primary that
 * replicates from elsewhere. An age is never negative, although the clock of a server may go back.
 */
const openWritesSql = `SELECT t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST,
  GREATEST(0, COALESCE(TIMESTAMPDIFF(SECOND, x.trx_started, NOW()), t.PROCESSLIST_TIME, 0)),
  CASE
    WHEN x.trx_state = 'LOCK WAIT' THEN 'rowLock'
    WHEN EXISTS (SELECT 1 FROM performance_schema.metadata_locks m
                 WHERE m.OWNER_THREAD_ID = t.THREAD_ID AND m.LOCK_STATUS = 'PENDING') THEN 'metadataLock'
    WHEN t.PROCESSLIST_STATE LIKE 'Waiting for semi-sync ACK%' THEN 'acknowledgement'
    WHEN t.PROCESSLIST_COMMAND = 'Sleep' THEN 'client'
  END
  FROM performance_schema.threads t
  LEFT JOIN information_schema.innodb_trx x ON x.trx_mysql_thread_id = t.PROCESSLIST_ID
  WHERE t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID <> CONNECTION_ID() AND t.NAME NOT REGEXP '^thread/sql/(replica|slave)_' AND (
    x.trx_rows_modified > 0 OR x.trx_rows_locked > 0 OR x.trx_state = 'LOCK WAIT' OR
    EXISTS (SELECT 1 FROM performance_schema.metadata_locks m
            WHERE m.OWNER_THREAD_ID = t.THREAD_ID AND m.OBJECT_TYPE = 'GLOBAL' AND m.LOCK_TYPE = 'INTENTION_EXCLUSIVE'))
  ORDER BY 4 DESC LIMIT ${mostWrites}`;

export interface WhoItIs {
  readonly hostname: string;
  /** The executed transactions, as a set of GTIDs. */
  readonly executed: string;
  /** A version such as `8.4.8`; `null` if the server is not a MySQL. */
  readonly version: string | null;
}

export async function askWhoItIs(query: SqlQuery): Promise<WhoItIs> {
  const [row] = await query(whoItIs);
  if (row === undefined) throw notUsable();
  const version = parseMysqlVersion(textColumn(row[2]));
  return {
    hostname: textColumn(row[0]),
    executed: textColumn(row[1]),
    version: version && versionText(version),
  };
}

const ipAddress = /^[0-9a-fA-F.:]{2,45}$/;

/** The IP addresses of the replicas that are connected, without those that MySQL has resolved to names. */
export async function askReplicaAddresses(query: SqlQuery): Promise<readonly string[]> {
  const rows = await query(replicaAddressesSql);
  const hosts = rows.slice(0, mostReplicaAddresses).map(([host]) => textColumn(host ?? null));
  return hosts.filter((host) => ipAddress.test(host));
}

/** The parts of a primary's and a replica's state that show whether commits are acknowledged. */
export type SemiSync = Omit<PrimarySaid, 'kind'> & Pick<ReplicaSaid, 'semiSync'>;

export async function askSemiSync(query: SqlQuery): Promise<SemiSync> {
  const [row] = await query(semiSyncSql);
  if (row === undefined) throw notUsable();
  const [acknowledging, count, isPrimary, isReplica] = row.map(wholeColumn) as [number, number, number, number];
  return { acknowledging, needed: isPrimary === 0 ? 0 : count, semiSync: isReplica !== 0 };
}

export interface Channel {
  /** The executed transactions, as a set of GTIDs. */
  readonly executed: string;
  /** The received transactions, as a set of GTIDs. The set may lack transactions that have been applied. */
  readonly received: string;
  readonly receiver: ThreadState;
  readonly applier: ThreadState;
}

/** `null` if the server is not a replica. MOCO sets up one channel. */
export async function askReplication(query: SqlQuery): Promise<Channel | null> {
  const [row] = await query(replicationSql);
  if (row === undefined) return null;
  return {
    executed: textColumn(row[0]),
    received: textColumn(row[1]),
    // A receiver in the state CONNECTING receives nothing.
    receiver: { runs: textColumn(row[2]) === 'ON', error: wholeColumn(row[3]) },
    applier: { runs: textColumn(row[4]) === 'ON', error: wholeColumn(row[5]) },
  };
}

/**
 * The table has one row for each stage of the last clone. mysqld keeps these rows until the next clone (MySQL 8.4,
 * "clone_progress").
 */
const cloneSql = `SELECT
  (SELECT STAGE FROM performance_schema.clone_progress WHERE STATE = 'In Progress' LIMIT 1),
  SUM(DATA), SUM(ESTIMATE) FROM performance_schema.clone_progress`;

/** The progress of the clone that this mysqld receives. Rejects with `MysqlError` if the server has no clone plugin. */
export async function askClone(query: SqlQuery): Promise<CloneProgress> {
  const [row] = await query(cloneSql);
  if (row === undefined) throw notUsable();
  return { stage: printable(row[0]), copiedBytes: wholeColumn(row[1]), estimatedBytes: wholeColumn(row[2]) };
}

const waits: readonly OpenWrite['waitsFor'][] = ['rowLock', 'metadataLock', 'acknowledgement', 'client'];
/** Longer names are truncated. */
const mostCharacters = 80;

/** A write with its age. The time when it began, by this program's clock, is not known. */
export type OpenWriteNow = Omit<OpenWrite, 'since'>;

/** The writes that are open now, the oldest first. */
export async function askOpenWrites(query: SqlQuery): Promise<readonly OpenWriteNow[]> {
  await query(session);
  const [shown] = await query(showsWrites);
  if (wholeColumn(shown?.[0] ?? null) !== 1) throw new MysqlError('its performance_schema does not show open writes');
  const rows = await query(openWritesSql);
  return rows.map(([connection, user, host, age, waitsFor]) => ({
    session: wholeColumn(connection),
    user: printable(user),
    host: printable(host),
    ageSeconds: wholeColumn(age),
    waitsFor: waits.find((known) => known === waitsFor) ?? null,
  }));
}

/** The name in a form that is safe in a message for people. */
const printable = (value: unknown): string =>
  textColumn(value)
    .slice(0, mostCharacters)
    .replace(/[^ -~]/g, '?');

function textColumn(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') throw notUsable();
  return value;
}

function wholeColumn(value: unknown): number {
  const number = value === null ? 0 : Number(value);
  if (!Number.isSafeInteger(number) || number < 0) throw notUsable();
  return number;
}

const notUsable = (): MysqlError => new MysqlError('the answer is not from a mysqld');
