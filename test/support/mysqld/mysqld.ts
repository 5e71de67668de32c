import { execFile } from 'node:child_process';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { geteuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { debianMysql } from '../../reality/image/debian-packages.ts';
import { debianRoot } from '../../reality/image/root-directory.ts';
import { Unavailable } from '../cluster/requirements.ts';
import { freePort } from '../control-plane/free-port.ts';
import { Guard } from '../control-plane/guard.ts';
import { SupervisedProcess } from '../control-plane/supervised-process.ts';
import { patienceMilliseconds } from '../patience.ts';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../../.cache/reality/', import.meta.url));

/** Fetches Debian's MySQL unless that was done before. Throws {@link Unavailable} where that can't be. */
export const fetchMysql = (): Promise<string> => debianMysql(cache);

/** Real mysqld, each in a directory of its own under one root, as root on Linux alone. */
export class MysqlServers {
  readonly #root: string;
  readonly #guard = new Guard();
  readonly #running: Mysqld[] = [];
  #started = 0;

  private constructor(root: string) {
    this.#root = root;
    this.#guard.remove(root);
  }

  /** Throws {@link Unavailable} with what is missing. */
  static async open(): Promise<MysqlServers> {
    if (platform() !== 'linux' || arch() !== 'x64' || geteuid?.() !== 0) {
      throw new Unavailable('Expected root on Linux with an x86-64 processor to run mysqld');
    }
    if ((await stat(join(cache, 'debian')).catch(() => null)) === null) {
      throw new Unavailable('Expected MySQL in .cache/reality: run `make mysql`');
    }
    const root = join(cache, `mysqld-${process.pid}`);
    await debianRoot(root, await fetchMysql(), '8.4.4');
    for (const [name, minor] of [
      ['null', '3'],
      ['random', '8'],
      ['urandom', '9'],
    ] as const) {
      await run('mknod', ['-m', '666', join(root, 'dev', name), 'c', '1', minor]);
    }
    return new MysqlServers(root);
  }

  /** Starts an empty server with what of MOCO's my.cnf matters for replication. */
  async start(more: readonly string[] = []): Promise<Mysqld> {
    this.#started += 1;
    const id = this.#started;
    const port = await freePort();
    const server = new Mysqld(this.#root, this.#guard, id, port);
    this.#running.push(server);
    await server.start(more);
    return server;
  }

  /** What mysqld prints and exits with, without a server. */
  async prints(...args: readonly string[]): Promise<{ readonly exitCode: number; readonly printed: string }> {
    try {
      const { stderr } = await run('chroot', [this.#root, '/usr/sbin/mysqld', ...args], {
        timeout: patienceMilliseconds,
      });
      return { exitCode: 0, printed: stderr };
    } catch (error) {
      const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: unknown };
      if (typeof code !== 'number') throw error;
      return { exitCode: code, printed: String(stderr) };
    }
  }

  /** The files and directories outside those of servers, each with the time of its last change. */
  async files(): Promise<readonly string[]> {
    const ofServers = ['-path', join(this.#root, 'tmp'), '-prune', '-o'];
    const print = ['-printf', '%p %T@\\n'];
    const { stdout } = await run('find', [this.#root, '-xdev', ...ofServers, ...print], { maxBuffer: 2 ** 26 });
    return stdout.split('\n');
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map((server) => server.stop()));
    await rm(this.#root, { recursive: true, force: true });
    await this.#guard.close();
  }
}

export class Mysqld {
  readonly port: number;
  readonly #root: string;
  readonly #id: number;
  readonly #sessions: Connection[] = [];
  readonly #guard: Guard;
  #process: SupervisedProcess | null = null;

  constructor(root: string, guard: Guard, id: number, port: number) {
    this.#root = root;
    this.#guard = guard;
    this.#id = id;
    this.port = port;
  }

  async start(more: readonly string[]): Promise<void> {
    const name = `server-${this.#id}`;
    const data = `/tmp/${name}`;
    await mkdir(join(this.#root, data));
    const config = `[mysqld]
user=root
datadir=${data}
socket=/tmp/${name}.sock
pid_file=/tmp/${name}.pid
port=${this.port}
bind_address=127.0.0.1
mysqlx=OFF
server_id=${this.#id}
gtid_mode=ON
enforce_gtid_consistency=ON
skip_replica_start=ON
secure_file_priv=NULL
relay_log_recovery=OFF
innodb_use_native_aio=OFF
innodb_buffer_pool_size=32M
plugin_load_add=semisync_master.so;semisync_slave.so
plugin_dir=/usr/lib/mysql/plugin
${more.join('\n')}
`;
    await writeFile(join(this.#root, `tmp/${name}.cnf`), config);
    const initial = ['--no-defaults', '--initialize-insecure', '--user=root', `--datadir=${data}`];
    await run('chroot', [this.#root, '/usr/sbin/mysqld', ...initial, '--innodb_use_native_aio=OFF']);
    this.#process = new SupervisedProcess({
      name,
      command: 'chroot',
      flags: [this.#root, '/usr/sbin/mysqld', `--defaults-file=/tmp/${name}.cnf`],
      logFile: join(this.#root, `tmp/${name}.log`),
      guard: this.#guard,
    });
    await this.#process.untilReady(() => this.session().then(() => true));
  }

  /** As its administrator. */
  async session(): Promise<Connection> {
    const socketPath = join(this.#root, `tmp/server-${this.#id}.sock`);
    const session = await createConnection({ socketPath, user: 'root' });
    session.on('error', () => undefined);
    this.#sessions.push(session);
    return session;
  }

  /** Runs statements as the administrator. Resolves to the first row of the last one. */
  async run(...statements: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const session = this.#sessions[0] ?? (await this.session());
    let rows: unknown = [];
    for (const statement of statements) [rows] = await session.query<RowDataPacket[]>(statement);
    return Array.isArray(rows) ? ((rows[0] as Readonly<Record<string, unknown>>) ?? {}) : {};
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await this.#process?.stop();
  }
}
