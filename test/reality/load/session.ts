import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { secrets } from '../../../src/kube/resource.ts';
import { statefulSetName } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../../support/object-client.ts';

/** MOCO makes these users in every cluster, and keeps their passwords in a Secret of the cluster's namespace. */
const passwordKeys = {
  'moco-admin': 'ADMIN_PASSWORD',
  'moco-writable': 'WRITABLE_PASSWORD',
  'moco-readonly': 'READONLY_PASSWORD',
} as const;

export type MysqlUser = keyof typeof passwordKeys;
export type Passwords = Readonly<Record<MysqlUser, string>>;

export const mysqlPort = 3306;
const connectMilliseconds = 2000;

export async function readPasswords(client: ObjectClient, namespace: string, clusterName: string): Promise<Passwords> {
  const place = { namespace, name: statefulSetName(clusterName) };
  const { data } = await client.get<{ data: Readonly<Record<string, string>> }>(secrets, place);
  return passwordsOf(data, `${namespace}/${place.name}`);
}

/** @param data of the Secret `name` */
export function passwordsOf(data: Readonly<Record<string, string>>, name: string): Passwords {
  const entries = Object.entries(passwordKeys).map(([user, key]) => {
    const value = data[key];
    if (value === undefined) throw new Error(`Expected ${key} in Secret ${name}, it is not there`);
    return [user, Buffer.from(value, 'base64').toString()] as const;
  });
  return Object.fromEntries(entries) as Passwords;
}

/** One connection to a member's mysqld. */
export class Session {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
    // Statements reject by themselves; between two statements there is no listener.
    connection.on('error', () => undefined);
  }

  static async open(host: string, user: MysqlUser, passwords: Passwords, port = mysqlPort): Promise<Session> {
    const password = passwords[user];
    return new Session(await createConnection({ host, port, user, password, connectTimeout: connectMilliseconds }));
  }

  /** @returns the rows as arrays, none for what is no query */
  async run(
    sql: string,
    values: readonly (number | string)[] = [],
    timeoutMilliseconds?: number,
  ): Promise<readonly (readonly unknown[])[]> {
    const limit = timeoutMilliseconds === undefined ? {} : { timeout: timeoutMilliseconds };
    const [rows] = await this.#connection.query<RowDataPacket[][]>({
      sql,
      values: [...values],
      rowsAsArray: true,
      ...limit,
    });
    return Array.isArray(rows) ? rows : [];
  }

  /** Breaks the connection: whatever has not been committed is rolled back. */
  close(): void {
    this.#connection.destroy();
  }
}

/** The server's or the client's name for it, such as `ER_OPTION_PREVENTS_STATEMENT` or `ECONNREFUSED`. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
