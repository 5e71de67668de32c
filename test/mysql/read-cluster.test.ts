import { createRequire } from 'node:module';
import { expect } from 'chai';
import { realWorld, type World } from '../../src/base/world.ts';
import { type AskedMember, readCluster } from '../../src/mysql/read-cluster.ts';
import { askOpenWrites, askReplicaAddresses, askWhoItIs } from '../../src/mysql/statements.ts';
import { caughtUp } from '../core/mysql-readings.ts';

/** What mysql2 has for the other side of a connection, and does not declare. */
interface ServerConnection {
  sequenceId: number;
  /** `stmt_prepare`: a SET. */
  on(event: 'query' | 'stmt_prepare', listener: (sql: string) => void): void;
  on(event: 'error' | 'warn', listener: () => void): void;
  serverHandshake(greeting: object): void;
  writeTextResult(rows: readonly object[], columns: readonly object[]): void;
  writeOk(): void;
}
interface Server {
  readonly _server: { address(): { port: number } };
  on(event: 'connection', listener: (connection: ServerConnection) => void): void;
  listen(port: number, host: string, listening: () => void): void;
  close(): void;
}
const mysql2 = createRequire(import.meta.url)('mysql2') as { createServer(): Server };

const real = realWorld(() => Promise.reject(new Error('no API server')));
/** Its time goes five times slower than that of the servers, so that a busy machine changes nothing. */
const slowdown = 5;
const world: World = {
  ...real,
  monotonic: () => real.monotonic() / slowdown,
  timer: (milliseconds, callback) => real.timer(milliseconds * slowdown, callback),
};
const never = new AbortController().signal;
const account = { user: 'moco-readonly', password: 'a secret' };
const uuid = '11111111-1111-1111-1111-111111111111';
const withoutTls = 0xffffff & ~0x800;

interface Answering {
  readonly executed: string;
  readonly received?: string;
  readonly loginMilliseconds?: number;
}

/** A server that answers as a mysqld does, but accepts no login before the given time. */
async function serving({ executed, received = '', loginMilliseconds = 0 }: Answering): Promise<Server> {
  const server = mysql2.createServer();
  server.on('connection', (connection) => {
    connection.on('error', () => undefined);
    connection.on('warn', () => undefined);
    const answer = (...row: readonly string[]): void => {
      const of = { catalog: 'def', schema: '', table: '', orgTable: '', orgName: '', characterSet: 33 };
      const text = { columnLength: 1_000_000, columnType: 253, flags: 0, decimals: 0 };
      const columns = row.map((_, index) => ({ ...of, ...text, name: `c${index}` }));
      connection.writeTextResult([Object.fromEntries(row.map((value, index) => [`c${index}`, value]))], columns);
    };
    const version = { protocolVersion: 10, serverVersion: '8.4.4', connectionId: 1, statusFlags: 2, characterSet: 33 };
    const plugin = { capabilityFlags: withoutTls, authPluginName: 'mysql_native_password' };
    const salt = { authPluginData1: Buffer.from('abcdefgh'), authPluginData2: Buffer.from('ijklmnopqrst') };
    const authCallback = (_: unknown, done: (error: null) => void): void => {
      setTimeout(() => {
        done(null);
        connection.sequenceId = 0;
      }, loginMilliseconds * slowdown);
    };
    connection.serverHandshake({ ...version, ...plugin, ...salt, authCallback });
    const answerTo = (sql: string): void => {
      connection.sequenceId = 1;
      if (sql.includes('innodb_trx')) answer('42', 'app', '10.0.0.7:1', '3600', 'client');
      else if (sql.includes('setup_instruments')) answer('1');
      else if (sql.includes('hostname')) answer('here', executed, '8.4.4');
      else if (sql.includes('Binlog Dump')) answer('10.0.0.9');
      else if (sql.includes('RECEIVED_TRANSACTION_SET')) answer(executed, received, 'ON', '0', 'ON', '0');
      else if (sql.includes('semi')) answer('2', '1', '1', '1');
      else connection.writeOk();
      connection.sequenceId = 0;
    };
    connection.on('query', answerTo);
    connection.on('stmt_prepare', answerTo);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const at = (uid: string, server: Server): AskedMember => ({
  uid,
  name: 'here',
  address: { ip: '127.0.0.1', port: server._server.address().port },
});

describe('what speaks against a step', () => {
  const servers: Server[] = [];
  const serve = async (answering: Answering): Promise<Server> => {
    const server = await serving(answering);
    servers.push(server);
    return server;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('is what a replica lacks, though its login takes a third of the time', async () => {
    const primary = at('primary', await serve({ executed: `${uuid}:1-1000` }));
    const sets = { executed: `${uuid}:1-10`, received: `${uuid}:1-20` };
    const replica = at('replica', await serve({ ...sets, loginMilliseconds: 350 }));
    const { said } = await readCluster(world, { primary, replicas: [replica], forSwitchover: false, account }, never);
    expect(said.get('replica')).to.deep.equal({ ...caughtUp, missing: 980, unapplied: 10 });
  });

  it('is what a replica lacks, though its answers are more than a conversation may receive', async () => {
    const gaps = Array.from({ length: 8000 }, (_, index) => `:${100_000_000 + index * 4}-${100_000_001 + index * 4}`);
    const more = `,22222222-2222-2222-2222-222222222222${gaps.join('')}`;
    const primary = at('primary', await serve({ executed: `${uuid}:1-1000${more}` }));
    const replica = at('replica', await serve({ executed: `${uuid}:1-10${more}`, received: `${uuid}:1-20${more}` }));
    const { said } = await readCluster(world, { primary, replicas: [replica], forSwitchover: false, account }, never);
    expect(said.get('replica')).to.deep.equal({ ...caughtUp, missing: 980, unapplied: 10 });
  });

  it('is an open write, though the login takes half of the time', async () => {
    const primary = at('primary', await serve({ executed: `${uuid}:1-1000`, loginMilliseconds: 500 }));
    const { writes } = await readCluster(world, { primary, replicas: [], forSwitchover: true, account }, never);
    expect(writes?.map(({ session, ageSeconds }) => [session, ageSeconds])).to.deep.equal([[42, 3600]]);
  });

  it('is who a mysqld is, and which replicas are connected to it', async () => {
    const primary = at('primary', await serve({ executed: `${uuid}:1-1000` }));
    const { servers: found } = await readCluster(world, { primary, replicas: [], forSwitchover: true, account }, never);
    expect([...found]).to.deep.equal([['primary', { version: '8.4.4', replicaAddresses: ['10.0.0.9'] }]]);
  });

  it('is no address where a server says anything else', async () => {
    const hosts = ['10.0.0.9', 'a-name', '::1', '10.0.0.9; DROP', ...Array.from({ length: 99 }, () => '10.0.0.1')];
    const found = await askReplicaAddresses(() => Promise.resolve(hosts.map((host) => [host])));
    expect(found.slice(0, 3)).to.deep.equal(['10.0.0.9', '::1', '10.0.0.1']);
    expect(found).to.have.length(48);
  });

  it('is no version where a server says anything else', async () => {
    const saying = (version: string | null) => askWhoItIs(() => Promise.resolve([['here', '', version]]));
    for (const [said, version] of [
      ['8.0.40-debug', '8.0.40'],
      ['8.4.8', '8.4.8'],
      ['10.11.6-MariaDB', null],
      ['x'.repeat(100_000), null],
      [null, null],
    ] as const) {
      expect((await saying(said)).version, said?.slice(0, 20)).to.equal(version);
    }
  });

  it('is no write where nothing shows them', async () => {
    const shows = (rows: string) => (sql: string) => Promise.resolve(sql.includes('setup_instruments') ? [[rows]] : []);
    expect(await askOpenWrites(shows('1'))).to.deep.equal([]);
    const thrown = await askOpenWrites(shows('0')).catch((error: unknown) => error);
    expect(thrown).to.have.property('message', 'its performance_schema does not show open writes');
  });
});
