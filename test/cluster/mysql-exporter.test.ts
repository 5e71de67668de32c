import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { programInPath } from '../program-in-path.ts';
import { Unavailable } from '../support/cluster/requirements.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { Link } from '../support/mysqld/link.ts';
import { type Mysqld, MysqlServers } from '../support/mysqld/mysqld.ts';
import { Prometheus } from '../support/prometheus.ts';

const exporter = programInPath('prometheus-mysqld-exporter', resolve('.cache/debian'));
const page = readFileSync('docs/how-to/ask-mysql.md', 'utf8');
const metric = 'mysql_perf_schema_last_applied_transaction_original_commit_timestamp_seconds';
const collector = '--collect.perf_schema.replication_applier_status_by_worker';

/** The check of the page, for the cluster `test` in the namespace `default`. */
function documentedQuery(): string {
  const [, block = ''] = /```yaml\n(checks:\n.*?)```/s.exec(page) ?? [];
  const { checks } = parse(block) as { readonly checks: readonly [{ readonly query: string }] };
  return checks[0].query.replaceAll('$namespace', 'default').replaceAll('$name', 'test');
}

describe("the check of mysqld-exporter's series", function () {
  const children: ChildProcess[] = [];
  let servers: MysqlServers | null = null;
  let link: Link | null = null;
  let scraped: Server | null = null;
  let prometheus: Prometheus | null = null;
  let directory = '';
  let source: Mysqld;

  before(async function () {
    if (exporter === undefined) {
      console.log('      prometheus-mysqld-exporter is not in PATH: run `make debian-packages`');
      return this.skip();
    }
    try {
      servers = await MysqlServers.open();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      console.error(error.message);
      return this.skip();
    }
    const started = await Promise.all([servers.start(), servers.start(), servers.start()]);
    const [, one, other] = started;
    [source] = started;
    await source.run("CREATE USER 'repl'@'%' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%'");
    // As moco-agent 0.16 creates it.
    await source.run(
      "CREATE USER 'moco-exporter'@'%' IDENTIFIED BY 'y'",
      "GRANT PROCESS, REPLICATION CLIENT, SELECT ON *.* TO 'moco-exporter'@'%'",
      'CREATE DATABASE d',
      'CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY)',
    );
    link = await Link.to(source.port);
    await follow(one, source.port);
    await follow(other, link.port);
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-exporter-'));
    const ports = [await exports(one, 'one'), await exports(other, 'other')];
    scraped = createServer((_, response) => {
      void Promise.all(ports.map((port, index) => seriesOf(port, `moco-test-${index + 1}`))).then((all) =>
        response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(`${all.flat().join('\n')}\n`),
      );
    });
    const port = await freePort();
    await new Promise<void>((done) => scraped?.listen(port, '127.0.0.1', done));
    prometheus = await Prometheus.start(this, await freePort(), `127.0.0.1:${port}`);
  });

  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    scraped?.close();
    link?.close();
    await prometheus?.stop();
    await servers?.close();
    if (directory !== '') await rm(directory, { recursive: true });
  });

  const follow = (replica: Mysqld, port: number): Promise<unknown> =>
    replica.run(
      `CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${port}, SOURCE_USER='repl', SOURCE_PASSWORD='x', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_HEARTBEAT_PERIOD=0`,
      'START REPLICA',
    );

  async function exports({ port: mysqld }: Mysqld, name: string): Promise<number> {
    const file = join(directory, `${name}.cnf`);
    await writeFile(file, `[client]\nuser=moco-exporter\npassword=y\nhost=127.0.0.1\nport=${mysqld}\n`);
    const port = await freePort();
    const flags = [`--config.my-cnf=${file}`, `--web.listen-address=127.0.0.1:${port}`, collector];
    children.push(spawn(exporter ?? '', [...flags, '--no-collect.slave_status'], { stdio: 'ignore' }));
    return port;
  }

  /** With the labels that a PodMonitor sets. */
  async function seriesOf(port: number, pod: string): Promise<readonly string[]> {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => null);
    const lines = (await response?.text())?.split('\n') ?? [];
    return lines
      .filter((line) => line.startsWith(`${metric}{`))
      .map((line) => line.replace('{', `{namespace="default",pod="${pod}",`));
  }

  const write = (): Promise<unknown> => source.run('INSERT INTO d.t VALUES (NULL)');

  it('fails while a replica lacks what another one has applied, and passes once it has caught up', async () => {
    const query = documentedQuery();
    await write();
    await prometheus?.until(`count(max by (pod) (${metric} > 0)) == 2`, true);
    await prometheus?.until(query, false);
    if (link !== null) link.isOpen = false;
    const writing = setInterval(() => void write(), 500);
    await prometheus?.until(query, true).finally(() => clearInterval(writing));
    if (link !== null) link.isOpen = true;
    await prometheus?.until(query, false);
  });
});
