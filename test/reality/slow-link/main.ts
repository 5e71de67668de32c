import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { realWorld } from '../../../src/kube/world.ts';
import { readCluster } from '../../../src/mysql/read-cluster.ts';
import { type Mysqld, MysqlServers } from '../../support/mysqld/mysqld.ts';
import { Unavailable } from '../image/unavailable.ts';

// `node test/reality/slow-link/main.ts`, as root on Linux: how long a commit waits when the next replica goes while the one that
// came back still receives 150 MB over 3 MB/s. Once after minReadySeconds, as without the feature gate ReplicationFacts,
// and once when MySQL itself says that it has received them. Three real mysqld, semi-synchronous as MOCO sets them up.

if (process.argv.includes('--help')) {
  console.log('usage: test/reality/slow-link/main.ts [--help]');
  process.exit(0);
}

const bytesPerSecond = 3_000_000;
const transactions = 150;
const bytesEach = 1_000_000;
const minReadySeconds = 5;
const longestSeconds = 90;
const world = realWorld(() => Promise.reject(new Error('no API server')));
const account = { user: 'moco-readonly', password: 'secret' };
const config = ['max_allowed_packet=64M', 'replica_max_allowed_packet=1G', 'log_replica_updates=ON'];

/** A way to a server that carries so many bytes a second. */
async function slowWay(to: number): Promise<{ readonly port: number; readonly close: () => void }> {
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).on('end', () => near.end());
    far.on('data', (chunk) => {
      far.pause();
      near.write(chunk);
      setTimeout(() => far.resume(), (chunk.length / bytesPerSecond) * 1000);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return { port: address.port, close: () => server.close() };
}

const follow = (replica: Mysqld, port: number): Promise<unknown> =>
  replica.run(
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${port}, SOURCE_USER='repl', SOURCE_PASSWORD='x', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1`,
    'SET GLOBAL rpl_semi_sync_slave_enabled = 1',
    'START REPLICA',
  );

/** What a replica lacks, by MySQL itself. `null` if nobody knows. */
async function missing(source: Mysqld, replica: Mysqld): Promise<number | null> {
  const member = (uid: string, { port }: Mysqld) => ({ uid, name: hostname(), address: { ip: '127.0.0.1', port } });
  const question = { primary: member('source', source), replicas: [member('replica', replica)], forSwitchover: false };
  const { said } = await readCluster(world, { ...question, account }, new AbortController().signal);
  const answer = said.get('replica');
  return answer?.kind === 'replica' ? answer.missing : null;
}

async function play(asks: boolean): Promise<void> {
  const servers = await MysqlServers.open();
  try {
    const [source, next, returned] = [
      await servers.start(config),
      await servers.start(config),
      await servers.start(config),
    ];
    const local = (...statements: readonly string[]) => ['SET sql_log_bin = 0', ...statements, 'SET sql_log_bin = 1'];
    for (const server of [source, next, returned]) {
      await server.run(
        ...local(
          "CREATE USER 'moco-readonly'@'%' IDENTIFIED BY 'secret'",
          "GRANT PROCESS, REPLICATION CLIENT, SELECT ON *.* TO 'moco-readonly'@'%'",
        ),
      );
    }
    await source.run(
      "CREATE USER 'repl'@'%' IDENTIFIED BY 'x'",
      "GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%'",
      'CREATE DATABASE d',
      'CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v LONGBLOB)',
    );
    await follow(next, source.port);
    while ((await missing(source, next)) !== 0) await delay(100);
    await source.run(
      'SET GLOBAL rpl_semi_sync_master_timeout = 86400000',
      'SET GLOBAL rpl_semi_sync_master_wait_for_slave_count = 1',
      'SET GLOBAL rpl_semi_sync_master_enabled = ON',
    );
    const session = await source.session();
    const blob = randomBytes(bytesEach);
    for (let left = transactions; left > 0; left -= 1) {
      await session.query('INSERT INTO d.t (v) VALUES (?)', [blob]);
    }
    const way = await slowWay(source.port);
    await follow(returned, way.port);
    const back = performance.now();
    const seen = { longest: 0, commits: 0, isOver: false };
    const writing = (async () => {
      while (!seen.isOver) {
        const since = performance.now();
        await session.query('INSERT INTO d.t (v) VALUES (1)');
        seen.longest = Math.max(seen.longest, performance.now() - since);
        seen.commits += 1;
        await delay(100);
      }
    })();
    await delay(minReadySeconds * 1000);
    console.log(`  it lacks ${await missing(source, returned)} transactions ${minReadySeconds} s after it came back`);
    if (asks) while ((await missing(source, returned)) !== 0) await delay(1000);
    console.log(`  the next replica goes ${((performance.now() - back) / 1000).toFixed(1)} s after it came back`);
    await next.stop();
    const wanted = seen.commits + 10;
    const until = performance.now() + longestSeconds * 1000;
    while (performance.now() < until && seen.commits < wanted) await delay(100);
    seen.isOver = true;
    await writing;
    while ((await missing(source, returned)) !== 0) await delay(500);
    const rows = 'SELECT COUNT(*) AS n FROM d.t';
    const [written, kept] = [(await source.run(rows))['n'], (await returned.run(rows))['n']];
    console.log(
      `  longest commit ${(seen.longest / 1000).toFixed(1)} s of ${seen.commits}, ${Number(written) - Number(kept)} rows missing`,
    );
    way.close();
  } finally {
    await servers.close();
  }
}

try {
  for (const asks of [false, true]) {
    console.log(asks ? 'with ReplicationFacts' : 'without');
    await play(asks);
  }
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
