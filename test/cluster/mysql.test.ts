import { hostname } from 'node:os';
import { expect } from 'chai';
import type { RowDataPacket } from 'mysql2/promise';
import { realWorld } from '../../src/base/world.ts';
import type { MemberSaid } from '../../src/core/on-demand-facts.ts';
import { preflightPod } from '../../src/moco/preflight-pod.ts';
import { readPreflightPod } from '../../src/moco/preflight-result.ts';
import { type Answers, type AskedMember, readClone, readCluster } from '../../src/mysql/read-cluster.ts';
import { caughtUp } from '../core/mysql-readings.ts';
import { Unavailable } from '../support/cluster/requirements.ts';
import { Link } from '../support/mysqld/link.ts';
import { type Mysqld, MysqlServers } from '../support/mysqld/mysqld.ts';

const world = realWorld(() => Promise.reject(new Error('no API server')));
const never = new AbortController().signal;
const user = 'moco-readonly';
const password = "it's a secret";
/** As moco-agent 0.16 creates it, and with what shows that TLS is used where the server offers it. */
const createsUser = (more = ''): readonly string[] => [
  'SET sql_log_bin = 0',
  `CREATE USER '${user}'@'%' IDENTIFIED BY '${password.replace("'", "''")}' ${more}`,
  `GRANT PROCESS, REPLICATION CLIENT, REPLICATION SLAVE, SELECT, SHOW DATABASES, SHOW VIEW ON *.* TO '${user}'@'%'`,
  'SET sql_log_bin = 1',
];
const unread = { kind: 'unknown', message: 'no server was asked' } as const;

describe('a real mysqld', function () {
  let servers: MysqlServers | null = null;
  let source: Mysqld;
  let replica: Mysqld;
  let link: Link;

  before(async function () {
    try {
      servers = await MysqlServers.open();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      console.error(error.message);
      return this.skip();
    }
    [source, replica] = await Promise.all([servers.start(), servers.start()]);
    await Promise.all([source.run(...createsUser('REQUIRE SSL')), replica.run(...createsUser())]);
    await source.run("CREATE USER 'repl'@'%' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%'");
    await source.run('CREATE DATABASE d', 'CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)');
    link = await Link.to(source.port);
    await replica.run(
      `CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${link.port}, SOURCE_USER='repl', SOURCE_PASSWORD='x', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_HEARTBEAT_PERIOD=0`,
      'SET GLOBAL rpl_semi_sync_slave_enabled = 1',
      'START REPLICA',
    );
    await until(async () => (await ask()).replica, caughtUp);
  });

  after(async () => {
    link?.close();
    await servers?.close();
  });

  it('prints its version in a preflight, with an error, and writes no file', async () => {
    const all = servers as MysqlServers;
    const pod = preflightPod({
      namespace: 'default',
      clusterName: 'test',
      rollout: { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', name: 'test', uid: 'u' },
      node: 'node-1',
      revision: 'r',
      template: { spec: { containers: [{ name: 'mysqld', image: 'mysql', command: ['mysqld'] }] } },
      templateBefore: {},
      about: 'images',
      asksVersion: true,
      timeoutSeconds: 300,
    }) as { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
    const args = pod.spec.containers[1]?.args ?? [];
    const [first] = await source.session().then((session) => session.query<RowDataPacket[]>('SELECT VERSION() AS v'));
    const before = new Set(await all.files());
    // A container without the privileges of root runs it.
    const { exitCode, printed } = await all.prints(...args, '--user=nobody');
    expect((await all.files()).filter((one) => !before.has(one))).to.deep.equal([]);
    const terminated = { exitCode, message: printed.slice(-4096) };
    const containerStatuses = [
      { name: 'mysqld', state: { terminated: { exitCode: 0 } } },
      { name: 'version', state: { terminated } },
    ];
    expect(exitCode).not.to.equal(0);
    const said = readPreflightPod({ status: { phase: 'Failed', containerStatuses } }, false);
    expect(said).to.deep.equal({ kind: 'fetched', version: /^[\d.]+/.exec(String(first[0]?.['v']))?.[0] });
  });

  const member = (uid: string, { port }: Pick<Mysqld, 'port'>, name = hostname()): AskedMember => ({
    uid,
    name,
    address: { ip: '127.0.0.1', port },
  });

  const answers = (more: Partial<Parameters<typeof readCluster>[1]> = {}): Promise<Answers> =>
    readCluster(
      world,
      {
        primary: member('source', source),
        replicas: [member('replica', replica)],
        forSwitchover: true,
        account: { user, password },
        ...more,
      },
      never,
    );

  async function ask(): Promise<{ readonly source: MemberSaid; readonly replica: MemberSaid }> {
    const { said } = await answers();
    return { source: said.get('source') ?? unread, replica: said.get('replica') ?? unread };
  }

  /** Waits for what servers do in their own time. */
  async function until<T>(read: () => Promise<T>, expected: T): Promise<void> {
    let last = await read();
    for (let tries = 0; tries < 100 && JSON.stringify(last) !== JSON.stringify(expected); tries += 1)
      last = await read();
    expect(last).to.deep.equal(expected);
  }

  it('reports what a replica has not received, although its threads run and its delay is 0', async () => {
    link.isOpen = false;
    for (let id = 1; id <= 9; id += 1) await source.run(`INSERT INTO d.t VALUES (${id}, 'a row of a user')`);
    const behind = await ask();
    expect(behind.replica).to.deep.equal({ ...caughtUp, missing: 9 });
    // As moco-agent asks.
    const delay = await replica.run(
      'SELECT MAX(LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) = (SELECT MAX(LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP) FROM performance_schema.replication_applier_status_by_worker) AS none FROM performance_schema.replication_connection_status',
    );
    expect(delay).to.deep.equal({ none: 1 });
    link.isOpen = true;
    await until(async () => (await ask()).replica, caughtUp);
  });

  it('reports what a replica has received and not applied, and whether its applier is running', async () => {
    await replica.run('STOP REPLICA SQL_THREAD');
    for (const id of [11, 12, 13]) await source.run(`INSERT INTO d.t VALUES (${id}, 'a row of a user')`);
    const stopped = { runs: false, error: 0 };
    await until(async () => (await ask()).replica, { ...caughtUp, unapplied: 3, applier: stopped });
    await replica.run(
      'SET sql_log_bin = 0',
      "INSERT INTO d.t VALUES (12, 'mine')",
      'SET sql_log_bin = 1',
      'START REPLICA SQL_THREAD',
    );
    const failed = { runs: false, error: 1062 };
    await until(async () => (await ask()).replica, { ...caughtUp, unapplied: 2, applier: failed });
    await replica.run('SET sql_log_bin = 0', 'DELETE FROM d.t WHERE id = 12', 'SET sql_log_bin = 1', 'START REPLICA');
    await until(async () => (await ask()).replica, caughtUp);
  });

  it('reports whether a replica acknowledges, which does not follow from what it has received', async () => {
    await source.run(
      'SET GLOBAL rpl_semi_sync_master_timeout = 86400000',
      'SET GLOBAL rpl_semi_sync_master_enabled = ON',
    );
    const nobody = { kind: 'primary', needed: 1, acknowledging: 0 } as const;
    const acknowledged = { ...nobody, acknowledging: 1 } as const;
    await until(ask, { source: acknowledged, replica: caughtUp });
    const enable = (on: number, more: string) =>
      replica.run(
        'STOP REPLICA IO_THREAD',
        `SET GLOBAL rpl_semi_sync_slave_enabled = ${on}`,
        more,
        'START REPLICA IO_THREAD',
      );
    await enable(0, 'DO 0');
    await until(ask, { source: nobody, replica: { ...caughtUp, semiSync: false } });
    const session = await source.session();
    const commits = session.query("INSERT INTO d.t VALUES (21, 'a row of a user')");
    // The commit waits, so it is not in what the primary has executed, and the replica lacks nothing of that.
    await until(async () => (await answers()).writes?.map(({ waitsFor }) => waitsFor), ['acknowledgement']);
    expect(await ask()).to.deep.equal({ source: nobody, replica: { ...caughtUp, semiSync: false } });
    await source.run('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
    await commits;
    await source.run('SET GLOBAL rpl_semi_sync_master_enabled = ON');
    await enable(1, "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'another'");
    // Neither the count of the primary nor the status of semi-synchronous replication says that it is connecting.
    await until(async () => (await ask()).replica, {
      ...caughtUp,
      receiver: { runs: false, error: 1045 },
    });
    await enable(1, "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'x'");
    await until(ask, { source: acknowledged, replica: caughtUp });
    await source.run('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
  });

  it('reports which writes are open and what they wait for, and no reads', async () => {
    const [idle, reads, waits, alters] = await Promise.all([1, 2, 3, 4].map(() => source.session()));
    if (!idle || !reads || !waits || !alters) throw new Error('expected four sessions');
    await idle.query('BEGIN');
    await idle.query("UPDATE d.t SET v = 'x' WHERE id = 1");
    await reads.query('BEGIN');
    await reads.query('SELECT * FROM d.t');
    const waiting = waits.query("UPDATE d.t SET v = 'y' WHERE id = 1");
    const shown = async () =>
      ((await answers()).writes ?? []).map(({ user: by, host, waitsFor }) => `${by}@${host} ${waitsFor}`).toSorted();
    await until(shown, ['root@localhost client', 'root@localhost rowLock']);
    const altering = alters.query('ALTER TABLE d.t ADD COLUMN z INT');
    await until(shown, ['root@localhost client', 'root@localhost metadataLock', 'root@localhost rowLock']);
    expect((await answers({ forSwitchover: false })).writes).to.equal(null);
    await idle.query('ROLLBACK');
    await reads.query('ROLLBACK');
    await Promise.all([waiting, altering]);
    await until(shown, []);
  });

  it('does not count as free of open writes if it does not show them', async () => {
    const shows = (enabled: string) =>
      source.run(
        `UPDATE performance_schema.setup_instruments SET ENABLED = '${enabled}' WHERE NAME = 'wait/lock/metadata/sql/mdl'`,
      );
    await shows('NO');
    const { said, writes } = await answers();
    const message = 'its performance_schema does not show open writes';
    expect([said.get('source'), writes]).to.deep.equal([{ kind: 'unknown', message }, null]);
    await shows('YES');
    expect((await answers()).writes).to.deep.equal([]);
  });

  it('says its version, and the addresses of the replicas that are connected', async () => {
    // As MOCO configures it (skip_name_resolve), it has resolved no address.
    const named = await servers?.start(['skip_name_resolve=ON']);
    if (named === undefined) throw new Error('expected servers');
    const hosts = "'127.0.0.1'";
    await named.run(
      'SET sql_log_bin = 0',
      `CREATE USER '${user}'@${hosts} IDENTIFIED BY '${password.replace("'", "''")}'`,
      `GRANT SELECT, PROCESS, REPLICATION CLIENT ON *.* TO '${user}'@${hosts}`,
      `CREATE USER 'repl'@${hosts} IDENTIFIED BY 'x'`,
      `GRANT REPLICATION SLAVE ON *.* TO 'repl'@${hosts}`,
      'SET sql_log_bin = 1',
    );
    const [version] = Object.values(await named.run('SELECT SUBSTRING_INDEX(VERSION(), "-", 1)'));
    const said = async () => (await answers({ primary: member('named', named), replicas: [] })).servers.get('named');
    expect(await said()).to.deep.equal({ version, replicaAddresses: [] });
    const follower = await servers?.start();
    await follower?.run(
      `CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${named.port}, SOURCE_USER='repl', SOURCE_PASSWORD='x', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1`,
      'START REPLICA',
    );
    await until(said, { version: String(version), replicaAddresses: ['127.0.0.1'] });
  });

  it('says how far a clone is that it has received', async () => {
    const clone = ['plugin_load_add=mysql_clone.so', 'report_host=127.0.0.1'];
    const [donor, recipient] = await Promise.all([servers?.start(clone), servers?.start(clone)]);
    if (donor === undefined || recipient === undefined) throw new Error('expected servers');
    await recipient.run(...createsUser());
    const progress = () => readClone(world, member('recipient', recipient), { user, password }, never);
    expect(await progress(), 'before the first clone').to.deep.equal({ stage: '', copiedBytes: 0, estimatedBytes: 0 });
    await donor.run("CREATE USER 'donor'@'%' IDENTIFIED BY 'x'", "GRANT BACKUP_ADMIN ON *.* TO 'donor'@'%'");
    await recipient.run(
      `SET GLOBAL clone_valid_donor_list = '127.0.0.1:${donor.port}'`,
      `CLONE INSTANCE FROM 'donor'@'127.0.0.1':${donor.port} IDENTIFIED BY 'x' DATA DIRECTORY = '/tmp/cloned'`,
    );
    const after = await progress();
    expect(after?.stage).to.equal('');
    expect(after?.copiedBytes).to.be.greaterThan(1_000_000).and.to.equal(after?.estimatedBytes);
    const { said } = await answers({ primary: member('recipient', recipient), replicas: [] });
    expect(said.get('recipient'), 'beside the plugin').to.include({ kind: 'primary' });
  });

  it('says nothing of clones without the plugin', async () => {
    expect(await readClone(world, member('replica', replica), { user, password }, never)).to.equal(null);
  });

  it('is not changed by being queried', async () => {
    const before = await source.run('SELECT @@gtid_executed AS executed');
    await answers();
    expect(await source.run('SELECT @@gtid_executed AS executed')).to.deep.equal(before);
  });

  it('answers without TLS where it has none', async () => {
    const plain = await servers?.start(["tls_version=''"]);
    if (plain === undefined) throw new Error('expected servers');
    await plain.run(...createsUser());
    const { said } = await answers({ primary: member('plain', plain), replicas: [] });
    expect(said.get('plain')).to.deep.equal({ kind: 'primary', needed: 0, acknowledging: 0 });
  });

  it('refuses a wrong password, and its error does not contain it', async () => {
    const { said, isDenied } = await answers({ account: { user, password: 'another secret' } });
    expect(isDenied).to.equal(true);
    expect([...said.values()]).to.deep.equal(
      ['source', 'replica'].map(() => ({ kind: 'unknown', message: 'ER_ACCESS_DENIED_ERROR' })),
    );
  });

  it('is no proof of a wrong password while another member has not refused it', async () => {
    const isDeaf = { ...member('deaf', source), address: { ip: '127.0.0.1', port: 9 } };
    const { said, isDenied } = await answers({ account: { user, password: 'another secret' }, replicas: [isDeaf] });
    expect(said.get('source')).to.deep.equal({ kind: 'unknown', message: 'ER_ACCESS_DENIED_ERROR' });
    expect(isDenied).to.equal(false);
  });

  it('counts for no other member', async () => {
    const { said } = await answers({ primary: member('source', source, 'moco-test-0'), replicas: [] });
    expect(said.get('source')).to.deep.equal({ kind: 'unknown', message: 'another mysqld has its address' });
  });
});
