// One conversation with a server that may be hostile, with limits for time, bytes and packets.

// oxlint-disable no-restricted-imports -- the only file that connects to a mysqld
import { connect, isIP } from 'node:net';
import type { Connection, RowDataPacket } from 'mysql2';
import { TimeLimit } from '../base/time-limit.ts';
import type { World } from '../base/world.ts';
import { BoundedStream } from './bounded-stream.ts';

export interface MysqlAddress {
  /** The IP address of the pod. It is never a name, so nothing is resolved. */
  readonly ip: string;
  readonly port: number;
}

export interface Account {
  readonly user: string;
  readonly password: string;
  /** By default TLS is used if the server offers it, with any certificate. */
  readonly tls?: MysqlTls;
}

export interface MysqlTls {
  /** Whether TLS is required. If so, a server without TLS gets neither name nor password. */
  readonly required: boolean;
  /** The PEM of the CA that must have signed the certificate of the server; `null` accepts any certificate. */
  readonly ca: string | null;
}

const anyTls: MysqlTls = { required: false, ca: null };

/** Runs a statement. Returns rows as arrays, in the order of the columns; empty for a statement that is not a query. */
export type SqlQuery = (sql: string) => Promise<readonly (readonly unknown[])[]>;

/**
 * Why a mysqld has not answered. The message never contains the server's own text, which could include user data or a
 * password. It contains only the name of the server's error, or what this side has observed.
 */
export class MysqlError extends Error {
  /** The server refuses the account. */
  readonly isDenied: boolean;

  constructor(message: string, isDenied = false) {
    super(message);
    this.isDenied = isDenied;
  }
}

/** The time limit for the whole conversation: connection, handshake and all answers. */
const conversationMilliseconds = 1000;
/** A mebibyte is enough for the GTID sets of a long-lived server, which can take up several kilobytes. */
const mostBytes = 1024 * 1024;
const deniedCodes: ReadonlySet<string> = new Set([
  'ER_ACCESS_DENIED_ERROR',
  'ER_ACCOUNT_HAS_BEEN_LOCKED',
  'ER_NOT_SUPPORTED_AUTH_MODE',
]);
const noTls = 'HANDSHAKE_NO_SSL_SUPPORT';

/**
 * One conversation with a mysqld. The other side may be any server, so a conversation takes at most a second and a
 * bounded buffer. By default TLS is used if the server offers it; the certificate is not verified, since mysqld creates
 * it itself. Rejects with {@link MysqlError}.
 */
export async function converse<T>(
  world: World,
  address: MysqlAddress,
  account: Account,
  signal: AbortSignal,
  work: (query: SqlQuery) => Promise<T>,
): Promise<T> {
  // The module is large, so loading it for the first time may take longer than a conversation.
  await import('mysql2');
  const limit = new TimeLimit(world, conversationMilliseconds, signal);
  const { required, ca } = account.tls ?? anyTls;
  const open = (tls: boolean): Promise<T> => conversation(address, account, tls, limit.signal, work);
  try {
    return await open(true).catch((error: unknown) => {
      if (codeOf(error) !== noTls) throw error;
      if (required || ca !== null) throw new MysqlError('it offers no TLS, which --mysql-tls requires');
      return open(false);
    });
  } catch (error) {
    throw limit.passed ? new MysqlError(`no answer within ${conversationMilliseconds / 1000} s`) : mysqlErrorOf(error);
  } finally {
    limit.end();
  }
}

async function conversation<T>(
  { ip, port }: MysqlAddress,
  { tls: { ca } = anyTls, ...account }: Account,
  tls: boolean,
  signal: AbortSignal,
  work: (query: SqlQuery) => Promise<T>,
): Promise<T> {
  if (isIP(ip) === 0) throw new MysqlError('the pod has no IP address');
  // The module is large, so it is loaded only when it is used. A bundle contains only the default export of a CommonJS
  // module.
  const { createConnection } = (await import('mysql2')).default;
  signal.throwIfAborted();
  const socket = new BoundedStream(
    connect({ host: ip, port, noDelay: true }),
    mostBytes,
    new MysqlError('it sent more than a mebibyte'),
  );
  const connection = createConnection({
    ...account,
    host: ip,
    stream: socket,
    // The time limit for the whole conversation applies instead.
    connectTimeout: 0,
    rowsAsArray: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    // Without this, mysql2 would generate code from what a server sends.
    disableEval: true,
    // The certificate of a pod does not contain the pod's address, so only the CA can be verified.
    ...(tls && { ssl: ca === null ? { rejectUnauthorized: false } : { ca, rejectUnauthorized: true } }),
  });
  return new Promise<T>((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error);
      connection.destroy();
      socket.destroy();
    };
    guard(connection, fail);
    connection.on('error', fail);
    signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    const query: SqlQuery = async (sql) => {
      const [rows] = await connection.promise().query<RowDataPacket[][]>(sql);
      return Array.isArray(rows) ? rows : [];
    };
    const converseAndEnd = async (): Promise<void> => {
      resolve(await work(query));
      connection.end(() => socket.destroy());
    };
    converseAndEnd().catch(fail);
  });
}

/**
 * Stops two things that mysql2 does not limit: its handling of packets after an error, and its line on stderr for each
 * packet out of order.
 */
function guard(connection: Connection, fail: (error: unknown) => void): void {
  const parts = connection as Connection & { handlePacket: (packet?: unknown) => void };
  const handle = parts.handlePacket.bind(connection);
  let failed = false;
  connection.on('warn', (error: unknown) => {
    throw error;
  });
  parts.handlePacket = (packet) => {
    if (failed) return;
    try {
      handle(packet);
    } catch (error) {
      failed = true;
      fail(error);
    }
  };
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

function mysqlErrorOf(error: unknown): MysqlError {
  if (error instanceof MysqlError) return error;
  const code = codeOf(error);
  if (code === undefined) return new MysqlError('the answer is not from a mysqld');
  return new MysqlError(code, deniedCodes.has(code));
}
