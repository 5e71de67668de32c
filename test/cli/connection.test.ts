import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { commands } from '../../src/cli/run.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { mysqlCluster } from '../controller/moco-objects.ts';
import { answer, status } from '../kube/fake-world.ts';
import { type FakeCluster, forbidden, notFound, runWith, useFakeCluster } from './fake-cluster.ts';

describe('errors of commands', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  it('suggests the nearest clusters for an unknown name', async () => {
    for (const command of ['status', 'plan', 'pause', 'wait', 'adopt', 'release']) {
      const { status: code, out, err } = await cluster.run(command, 'tset');
      expect([code, out], command).to.deep.equal([1, '']);
      expect(err).to.equal(
        'error: mysqlclusters.moco.cybozu.com "tset" not found in namespace default (did you mean test?)\n',
      );
    }
  });

  it('names the namespace of a cluster that is elsewhere', async () => {
    cluster.server.create(clusterKind, { ...mysqlCluster(), metadata: { name: 'orders', namespace: 'shop' } });
    const items = [{ ...mysqlCluster(), metadata: { name: 'orders', namespace: 'shop', uid: 'o' } }];
    cluster.clusterScoped['/apis/moco.cybozu.com/v1beta2/mysqlclusters'] = { items };
    const { err } = await cluster.run('status', 'orders');
    expect(err).to.equal(
      'error: mysqlclusters.moco.cybozu.com "orders" not found in namespace default; there is one in shop: use -n shop\n',
    );
    expect((await cluster.run('status', 'orders', '-n', 'shop')).status).to.equal(0);
  });

  it('works without the other namespaces if they cannot be read', async () => {
    cluster.fault = (request) => (/v1beta2\/mysqlclusters\?/.test(request.path) ? forbidden(request) : null);
    const { status: code, err } = await cluster.run('status', 'orders');
    expect([code, err]).to.deep.equal([
      1,
      'error: mysqlclusters.moco.cybozu.com "orders" not found in namespace default\n',
    ]);
  });

  it('reports forbidden requests as kubectl does', async () => {
    cluster.fault = forbidden;
    for (const argv of [['status'], ['status', 'test'], ['plan', 'test'], ['release', '--all']]) {
      const { status: code, err } = await cluster.run(...argv);
      expect(code, argv.join(' ')).to.equal(1);
      expect(err).to.match(/^Error from server \(Forbidden\): user "me" cannot get \/apis\/[^\n]+\n$/);
    }
  });

  it('recognizes a Kubernetes cluster without MOCO, or without moco-rollout', async () => {
    cluster.fault = (request) => (request.path.includes('/mysqlclusters') ? notFound() : null);
    expect((await cluster.run('status')).err).to.match(
      /^error: there is no kind MySQLCluster on .*: is MOCO installed\?\n$/,
    );
    cluster.fault = (request) => (request.path.includes('/mysqlrollouts') ? notFound() : null);
    const { status: code, out } = await cluster.run('status', 'test');
    expect(code).to.equal(0);
    expect(out).to.contain('no controller has observed this cluster yet');
  });

  it('waits for an unresponsive API server until the request timeout', async () => {
    cluster.fault = () => 'hang';
    const { status: code, err } = await cluster.run('status', '--request-timeout=100ms');
    expect(code).to.equal(1);
    expect(err).to.match(
      /^Unable to connect to the server: http:\/\/127\.0\.0\.1:\d+ did not answer within 0\.1 s \(--request-timeout\)\n$/,
    );
    expect(cluster.requests.filter(({ path }) => path.includes('mysqlclusters'))).to.have.length(1);
  });

  it('retries if the API server is busy', async () => {
    let asked = 0;
    cluster.fault = () => (asked++ < 2 ? answer(503, status(503, 'ServiceUnavailable')) : null);
    expect((await cluster.run('status')).status).to.equal(0);
  });

  it('reports an untrusted API server', async () => {
    cluster.fault = () => answer(401, status(401, 'Unauthorized'));
    const { status: code, err } = await cluster.run('status');
    expect(code).to.equal(1);
    expect(err).to.contain('You must be logged in to the server');
  });

  it('names an unusable kubeconfig, and lists the contexts', async () => {
    expect(await runWith({ KUBECONFIG: '/nowhere/config' }, ['status'])).to.deep.equal({
      status: 1,
      out: '',
      err: 'error: expected a kubeconfig at /nowhere/config, got: no such file; name another one with --kubeconfig or KUBECONFIG\n',
    });
    const { status: code, err } = await cluster.run('status', '--context=there');
    expect(code).to.equal(1);
    expect(err).to.match(/expected a context there in the kubeconfig .*, got: here\n$/);
  });

  it('never passes control characters from the cluster to the terminal', async () => {
    cluster.bench.setting({ pinnedMembers: [{ ordinal: 2, reason: 'red \u001B[31m alert\u0007' }] });
    await cluster.bench.start().work();
    const { out } = await cluster.run('status', 'test');
    expect(out).to.contain('pinned: red  alert').and.not.to.contain('\u001B');
  });
});

describe('the choice of a kubeconfig', () => {
  let directory = '';

  let port = 0;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubeconfigs-'));
    port = await unusedPort();
  });

  after(() => rm(directory, { recursive: true }));

  async function write(name: string, context: string, current?: string): Promise<string> {
    const path = join(directory, name);
    const server = `http://127.0.0.1:${port}/${context}`;
    await writeFile(
      path,
      JSON.stringify({
        clusters: [{ name: context, cluster: { server, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'me', user: {} }],
        contexts: [{ name: context, context: { cluster: context, user: 'me', namespace: `ns-${context}` } }],
        ...(current && { 'current-context': current }),
      }),
    );
    return path;
  }

  /** Arguments with which each command sends a request. */
  const complete: Readonly<Record<string, string>> = {
    status: '--watch',
    get: 'test',
    sequence: '--watch',
    plan: '--fleet',
    wait: 'test',
    history: 'test',
    undo: 'test',
    report: 'test',
    pause: 'test',
    resume: '--all',
    freeze: '--reason x',
    unfreeze: '',
    approve: 'test',
    pin: 'moco-test-1 --reason x',
    unpin: 'moco-test-1',
    override: 'test BackupRunning --for 1h --reason x',
    restore: 'moco-test-1 --yes',
    unrestore: 'moco-test-1 --yes',
    release: '--all',
    adopt: 'test',
    check: '',
    diagnose: 'test',
  };

  it('does not help if no API server answers: every command ends with one sentence', async () => {
    const connecting = commands.filter(({ connects }) => connects !== false).map(({ name }) => name);
    expect(Object.keys(complete)).to.have.members(connecting);
    const unreachable = await write('c', 'gone', 'gone');
    for (const [name, rest] of Object.entries(complete)) {
      const argv = [name, ...rest.split(' ').filter((word) => word !== '')];
      const { status: code, out, err } = await runWith({ KUBECONFIG: unreachable }, argv);
      expect([code, out], name).to.deep.equal([1, '']);
      expect(err).to.match(/^Unable to connect to the server: \S+ is unreachable \(.*ECONNREFUSED.*\)\n$/);
      const none = await runWith({}, argv);
      expect([none.status, none.out], name).to.deep.equal([1, '']);
      expect(none.err).to.match(/^error: expected a kubeconfig at \/nowhere\/.kube\/config, got: no such file; .*\n$/);
    }
  });

  it('reports an address without TLS given as an option', async () => {
    const { status: code, err } = await runWith({}, ['status', '--server', 'http://127.0.0.1:1']);
    expect([code, err]).to.deep.equal([
      1,
      'error: expected an https address, or insecure-skip-tls-verify, for --server, got http://127.0.0.1:1\n',
    ]);
  });

  it('merges the files in KUBECONFIG, and some may be missing', async () => {
    const KUBECONFIG = [await write('a', 'one'), join(directory, 'none'), await write('b', 'two', 'two')].join(':');
    expect((await runWith({ KUBECONFIG }, ['status'])).err).to.contain(`127.0.0.1:${port}/two`);
    expect((await runWith({ KUBECONFIG }, ['status', '--context=one'])).err).to.contain(`127.0.0.1:${port}/one`);
    expect((await runWith({ KUBECONFIG }, ['status', '--context=three'])).err).to.contain('expected a context three');
  });
});

/** Nobody listens there. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
