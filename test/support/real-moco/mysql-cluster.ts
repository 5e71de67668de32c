import { setTimeout as delay } from 'node:timers/promises';
import {
  acceptsCommits,
  answers,
  type Database,
  isConnected,
  isServing,
  observeDatabases,
  withDatabase,
} from '../moco/databases.ts';
import { type Faults, noFaults } from '../moco/faults.ts';
import type { MySQLCluster, Pod } from '../moco/objects.ts';
import { byOrdinal, processOf } from '../moco/pods.ts';
import type { ResultSet } from './mysql-protocol.ts';

/** Further settings of a process by MOCO, lost when it ends. */
interface Reported {
  /** The SQL thread runs: `STOP REPLICA IO_THREAD` leaves it alone. */
  readonly applying: boolean;
  /** Of semi-synchronous replication. */
  readonly source: boolean;
  readonly waitFor: number;
  readonly replica: boolean;
}

type Statement = readonly [
  RegExp,
  (ordinal: number, groups: readonly string[]) => ResultSet | null | Promise<ResultSet>,
];

const unreported: Reported = { applying: false, source: false, waitFor: 1, replica: false };
/** Of MOCO's definition: `spec.maxDelaySeconds`. */
const defaultMaxDelaySeconds = 60;
/** What the whole cluster has executed. Nothing is written here, and no member is ever empty: nothing has to be cloned. */
const history = '00000000-0000-4000-8000-000000000000:1-5';
const mysqlPort = 3306;
/** MOCO waits for a candidate for 50 s. */
const candidateTimeoutMilliseconds = 3000;

/** The databases of one MySQLCluster without data: MOCO's statements and their effects. */
export class MysqlCluster {
  #cluster: MySQLCluster | null = null;
  #pods: readonly Pod[] = [];
  #databases: readonly Database[] = [];
  #faults: Faults = noFaults;
  readonly #reported = new Map<string, Reported>();
  /** By ordinal, as configured: kept over restarts and promotions. */
  readonly #sourceHosts = new Map<number, string>();
  readonly #onChange: () => void;
  readonly #statements: readonly Statement[];

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#statements = this.#known();
  }

  observe(cluster: MySQLCluster | null, pods: readonly Pod[]): void {
    this.#cluster = cluster;
    this.#pods = pods;
    this.#databases = observeDatabases(this.#databases, pods, cluster?.spec.replicas ?? 0);
  }

  get faults(): Faults {
    return this.#faults;
  }

  changeFaults(faults: Partial<Faults>): void {
    this.#faults = { ...this.#faults, ...faults };
    this.#onChange();
  }

  acceptsCommits(): boolean {
    return acceptsCommits(this.#databases, this.#faults);
  }

  isServing(pod: Pod): boolean {
    const ordinal = byOrdinal(this.#pods).findIndex((member) => member?.metadata.uid === pod.metadata.uid);
    const maxDelaySeconds = this.#cluster?.spec.maxDelaySeconds ?? defaultMaxDelaySeconds;
    return (
      processOf(pod) === this.#databases[ordinal]?.process &&
      isServing(this.#databases, ordinal, this.#faults, maxDelaySeconds)
    );
  }

  /** The answer of this member's mysqld. Throws for an unknown statement, and while it is unreachable. */
  async answer(ordinal: number, statement: string): Promise<ResultSet | null> {
    if (!answers(this.#databases, ordinal, this.#faults)) throw new Error('unreachable');
    for (const [pattern, run] of this.#statements) {
      const match = pattern.exec(statement);
      if (match !== null) return run(ordinal, match.slice(1));
    }
    throw new Error(`Expected a statement that MOCO makes, got ${statement}`);
  }

  #known(): readonly Statement[] {
    return [
      [/^SELECT (@@server_uuid,.*)$/, (ordinal, [columns = '']) => this.#variables(ordinal, columns.split(','))],
      [/^SELECT VARIABLE_VALUE FROM performance_schema\.global_status/, () => one('VARIABLE_VALUE', '0')],
      [/^SHOW REPLICAS$/, (ordinal) => this.#replicasOf(ordinal)],
      [/^SHOW REPLICA STATUS$/, (ordinal) => this.#replicaStatus(ordinal)],
      [/^SELECT state FROM performance_schema\.clone_status$/, () => ({ columns: ['state'], rows: [] })],
      [/FROM information_schema\.PROCESSLIST$/, () => ({ columns: ['ID', 'USER', 'HOST'], rows: [] })],
      [/^SELECT SUBSTRING_INDEX\(VERSION\(\)/, () => one('version', '8.4')],
      [
        /^SELECT GTID_SUBTRACT\('(.*)','(.*)'\)$/,
        (_, [left = '', right = '']) => one('gtids', subtract(left, right).join()),
      ],
      [
        /^SELECT GTID_SUBSET\('(.*)','(.*)'\)$/,
        (_, [left = '', right = '']) => one('subset', bit(subtract(left, right).length === 0)),
      ],
      [/^SELECT WAIT_FOR_EXECUTED_GTID_SET\(/, () => this.#waitForHistory()],
      [/^SET GLOBAL super_read_only=1$/, (ordinal) => this.#makeReadOnly(ordinal)],
      [/^SET GLOBAL read_only=0$/, (ordinal) => this.#change(ordinal, { writable: true, draining: false })],
      [/^STOP REPLICA IO_THREAD$/, (ordinal) => this.#change(ordinal, { replicating: false })],
      [/^STOP REPLICA$/, (ordinal) => this.#stopReplica(ordinal)],
      [/^RESET REPLICA$/, () => null],
      [/^START REPLICA$/, (ordinal) => this.#startReplica(ordinal)],
      [/^CHANGE REPLICATION SOURCE TO SOURCE_HOST = '([^']+)'/, (ordinal, [host = '']) => this.#follow(ordinal, host)],
      [
        /^SET GLOBAL rpl_semi_sync_slave_enabled=(\d)$/,
        (ordinal, [on]) => this.#configure(ordinal, { replica: on === '1' }),
      ],
      [
        /^SET GLOBAL rpl_semi_sync_master_enabled=(ON|OFF)$/,
        (ordinal, [on]) => this.#configure(ordinal, { source: on === 'ON' }),
      ],
      [
        /^SET GLOBAL rpl_semi_sync_master_wait_for_slave_count=(\d+)$/,
        (ordinal, [count]) => this.#configure(ordinal, { waitFor: Number(count) }),
      ],
      [/^SET GLOBAL rpl_semi_sync_master_timeout=/, () => null],
    ];
  }

  #variables(ordinal: number, names: readonly string[]): ResultSet {
    const { source, waitFor, replica } = this.#reportedOf(ordinal);
    const readOnly = bit(this.#databases[ordinal]?.writable !== true);
    const values: Readonly<Record<string, string>> = {
      '@@server_uuid': uuidOf(ordinal),
      '@@gtid_executed': this.#executed(ordinal),
      '@@gtid_purged': '',
      '@@read_only': readOnly,
      '@@super_read_only': readOnly,
      '@@rpl_semi_sync_master_wait_for_slave_count': String(waitFor),
      '@@rpl_semi_sync_master_enabled': bit(source),
      '@@rpl_semi_sync_slave_enabled': bit(replica),
    };
    return { columns: names, rows: [names.map((name) => values[name] ?? null)] };
  }

  #replicasOf(ordinal: number): ResultSet {
    const base = this.#cluster?.spec.serverIDBase ?? 0;
    const rows = this.#databases.flatMap((database, replica) =>
      database.source === ordinal && isConnected(this.#databases, replica, this.#faults)
        ? [[String(base + replica), '', String(mysqlPort), String(base + ordinal), uuidOf(replica)]]
        : [],
    );
    return { columns: ['Server_Id', 'Host', 'Port', 'Source_Id', 'Replica_UUID'], rows };
  }

  #replicaStatus(ordinal: number): ResultSet {
    const columns = [
      'Last_IO_Errno',
      'Last_IO_Error',
      'Last_SQL_Errno',
      'Last_SQL_Error',
      'Source_Host',
      'Retrieved_Gtid_Set',
      'Executed_Gtid_Set',
      'Replica_IO_Running',
      'Replica_SQL_Running',
      'Seconds_Behind_Source',
    ];
    const host = this.#sourceHosts.get(ordinal);
    if (host === undefined) return { columns, rows: [] };
    const replicating = this.#databases[ordinal]?.replicating === true;
    const connected = isConnected(this.#databases, ordinal, this.#faults);
    const io = connected ? 'Yes' : replicating ? 'Connecting' : 'No';
    const { applying } = this.#reportedOf(ordinal);
    const sql = applying ? 'Yes' : 'No';
    const executed = this.#executed(ordinal);
    return {
      columns,
      rows: [['0', '', '0', '', host, '', executed, io, sql, this.#behind(ordinal, applying, connected)]],
    };
  }

  /** NULL without the SQL thread, and once that has applied everything and the IO thread is stopped. */
  #behind(ordinal: number, applying: boolean, connected: boolean): string | null {
    const lag = this.#faults.lagSeconds[ordinal] ?? 0;
    return applying && (connected || lag > 0) ? String(lag) : null;
  }

  /** 0 once it has them all, 1 when time is up. */
  async #waitForHistory(): Promise<ResultSet> {
    if (this.#faults.switchover !== 'failing') return one('timeout', '0');
    await delay(candidateTimeoutMilliseconds);
    return one('timeout', '1');
  }

  #makeReadOnly(ordinal: number): null {
    const wasWritable = this.#databases[ordinal]?.writable === true;
    return this.#change(ordinal, { writable: false, ...(wasWritable ? { draining: true } : {}) });
  }

  #stopReplica(ordinal: number): null {
    this.#configure(ordinal, { applying: false });
    return this.#change(ordinal, { replicating: false });
  }

  #startReplica(ordinal: number): null {
    this.#configure(ordinal, { applying: true });
    return this.#change(ordinal, { replicating: true, draining: false });
  }

  #follow(ordinal: number, host: string): null {
    this.#sourceHosts.set(ordinal, host);
    const [, source] = /-(\d+)\./.exec(host) ?? [];
    return this.#change(ordinal, { source: source === undefined ? null : Number(source) });
  }

  #change(ordinal: number, change: Partial<Database>): null {
    this.#databases = withDatabase(this.#databases, ordinal, change);
    this.#onChange();
    return null;
  }

  #configure(ordinal: number, change: Partial<Reported>): null {
    const process = this.#databases[ordinal]?.process;
    if (process !== null && process !== undefined) {
      this.#reported.set(process, { ...this.#reportedOf(ordinal), ...change });
    }
    return null;
  }

  #reportedOf(ordinal: number): Reported {
    return this.#reported.get(this.#databases[ordinal]?.process ?? '') ?? unreported;
  }

  #executed(ordinal: number): string {
    return this.#faults.errant.includes(ordinal) ? `${history},${uuidOf(ordinal)}:1` : history;
  }
}

function uuidOf(ordinal: number): string {
  return `00000000-0000-4000-8000-${String(ordinal + 1).padStart(12, '0')}`;
}

/** Sets here are lists of whole ranges that are equal or disjoint. */
function subtract(left: string, right: string): readonly string[] {
  const known = right.split(',');
  return left.split(',').filter((range) => range !== '' && !known.includes(range));
}

function one(column: string, value: string): ResultSet {
  return { columns: [column], rows: [[value]] };
}

function bit(value: boolean): string {
  return value ? '1' : '0';
}
