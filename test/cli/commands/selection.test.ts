import { expect } from 'chai';
import { load } from 'js-yaml';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { type FakeCluster, type Ran, useFakeCluster } from '../fake-cluster.ts';

/** What this file needs of a MySQLRollout that was written. */
interface Written {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly items?: readonly Written[];
}

describe('the selection of clusters', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    const hold = { rule: 'Paused', message: 'x', since: '' };
    cluster.add('orders', { phase: 'Paused', replicas: 3, updatedReplicas: 1, hold });
    cluster.add('users', { phase: 'UpToDate', replicas: 3, updatedReplicas: 3 });
  });

  const namesIn = ({ out }: Ran): readonly string[] =>
    out
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split(' ')[0] ?? '');

  it('lists clusters that are held or stale', async () => {
    expect(namesIn(await cluster.run('status'))).to.deep.equal(['orders', 'test', 'users']);
    expect((await cluster.run('status', '--held')).out).to.match(/\n\nNAME .*\norders .*\n$/);
    expect(namesIn(await cluster.run('get', '--stale', '-o', 'wide'))).to.deep.equal(['orders']);
  });

  it('takes flags before the command, and names with their kind, as kubectl does', async () => {
    const { out } = await cluster.run('status', 'orders');
    const same = [
      ['-n', 'default', 'status', 'orders'],
      ['--namespace=default', '--request-timeout', '20s', 'status', 'orders'],
      ['status', 'mysqlcluster/orders'],
      ['status', 'MySQLClusters.moco.cybozu.com/orders'],
      ['status', 'mysqlrollouts.v1alpha1.moco-rollout.io/orders'],
    ];
    for (const argv of same)
      expect(await cluster.run(...argv), argv.join(' ')).to.deep.equal({ status: 0, out, err: '' });
    expect(namesIn(await cluster.run('-A', '--held', 'get'))).to.deep.equal(
      namesIn(await cluster.run('get', '-A', '--held')),
    );
    const other = await cluster.run('status', 'pod/orders');
    expect([other.status, other.err]).to.deep.equal([
      1,
      'error: mysqlclusters.moco.cybozu.com "pod/orders" not found: no object can have this name\n',
    ]);
  });

  it('asks the API server for the labels', async () => {
    await cluster.run('status', '-l', 'env=production');
    const asked = cluster.requests.find(({ path }) => path.includes('/mysqlclusters?'));
    expect(new URLSearchParams(asked?.path.split('?')[1]).get('labelSelector')).to.equal('env=production');
  });

  it('writes one MySQLRollout as an object, and several as a List', async () => {
    const one = JSON.parse((await cluster.run('get', 'orders', '-o', 'json')).out) as Written;
    expect(one).to.include({ apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout' });
    expect(one.metadata).to.include({ name: 'orders' }).and.not.to.have.property('managedFields');
    const several = load((await cluster.run('get', '-o', 'yaml')).out) as Written;
    expect(several).to.include({ apiVersion: 'v1', kind: 'List' });
    expect(several.items?.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).to.deep.equal([
      'MySQLRollout/orders',
      'MySQLRollout/test',
      'MySQLRollout/users',
    ]);
  });

  it('writes names', async () => {
    expect((await cluster.run('get', '-o', 'name', '--held')).out).to.equal('mysqlrollout.moco-rollout.io/orders\n');
  });

  it('says that a cluster has no MySQLRollout yet', async () => {
    cluster.add('new', null);
    const { status, out, err } = await cluster.run('get', 'new', '-o', 'json');
    expect([status, out]).to.deep.equal([1, '']);
    expect(err).to.match(/^error: mysqlrollouts\.moco-rollout\.io "new" not found/);
  });

  it('pauses and resumes every cluster of the namespace with --all, and continues after an error', async () => {
    cluster.fault = ({ method, path }) =>
      method === 'PATCH' && path.includes('/mysqlrollouts/orders')
        ? { status: 403, headers: {}, body: (async function* nothing() {})() }
        : null;
    const { status, out, err } = await cluster.run('pause', '--all');
    expect(status).to.equal(1);
    expect(out).to.equal('default/test: paused\ndefault/users: paused\n');
    expect(err).to.match(/^Error from server/);
  });

  it('waits for several clusters and reports each', async () => {
    const complete = (name: string): void => {
      const type = 'moco-rollout.io/RolloutComplete';
      cluster.server.change(clusterKind, name, {
        status: { conditions: [{ type, status: 'True', observedGeneration: 1, reason: 'Complete' }] },
      });
      cluster.server.change(rolloutKind, name, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    };
    complete('users');
    const { status, out, err } = await cluster.run('wait', 'users', 'orders', '--timeout=2s');
    expect([status, out]).to.deep.equal([1, 'default/users: complete\n']);
    expect(err).to.contain('error: default/orders: not complete in time: Paused: x');
    complete('orders');
    expect((await cluster.run('wait', 'users', 'orders')).status).to.equal(0);
  });
});
