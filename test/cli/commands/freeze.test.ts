import { expect } from 'chai';
import { answer, status } from '../../kube/fake-world.ts';
import { type FakeCluster, forbidden, useFakeCluster } from '../fake-cluster.ts';

const policies = '/apis/moco-rollout.io/v1alpha1/mysqlrolloutpolicies';

describe('freeze and unfreeze', () => {
  let cluster: FakeCluster;
  let written: { method: string; path: string; query: URLSearchParams; body: object }[];

  useFakeCluster((fresh) => {
    cluster = fresh;
    written = [];
    cluster.fault = ({ method, path, body = '{}' }) => {
      const [place = '', query] = path.split('?');
      if (method === 'GET' || !place.startsWith(policies)) return null;
      written.push({ method, path: place, query: new URLSearchParams(query), body: JSON.parse(body) as object });
      return answer(200, {});
    };
  });

  const policyOf = (name: string, managers: readonly string[], spec: object) => ({
    metadata: {
      name,
      uid: `${name}-uid`,
      resourceVersion: '7',
      managedFields: managers.map((manager) => ({ manager, fieldsV1: { 'f:spec': { 'f:enforced': {} } } })),
    },
    spec,
  });
  const exist = (...all: readonly ReturnType<typeof policyOf>[]): void => {
    cluster.clusterScoped[policies] = { items: all };
    for (const one of all) cluster.clusterScoped[`${policies}/${one.metadata.name}`] = one;
  };
  const frozen = { enforced: { paused: true } };

  it('freeze applies a policy with the reason, the author and the end, without force', async () => {
    const ran = await cluster.run('freeze', '--reason', 'incident 4711', '--for', '4h');
    expect(ran).to.deep.equal({
      status: 0,
      out: 'MySQLRolloutPolicy/freeze: all clusters frozen until 2026-07-01T16:00:00Z\n',
      err: '',
    });
    const [write] = written;
    expect(written).to.have.length(1);
    expect([write?.method, write?.path]).to.deep.equal(['PATCH', `${policies}/freeze`]);
    expect(write?.query.get('fieldManager')).to.equal('moco-rollout-cli-freeze');
    expect(write?.query.has('force')).to.equal(false);
    const pause = { reason: 'incident 4711', by: 'me', until: '2026-07-01T16:00:00Z' };
    expect(write?.body).to.deep.include({
      metadata: { name: 'freeze' },
      spec: { priority: 1000, enforced: { paused: true, pause } },
    });
  });

  it('freeze -n selects the namespace by a label that no user can change', async () => {
    const { out } = await cluster.run('freeze', '-n', 'shop', '--reason', 'sale');
    expect(out).to.equal('MySQLRolloutPolicy/freeze-shop: the clusters of namespace shop frozen\n');
    expect(written[0]?.body).to.have.nested.property(
      String.raw`spec.namespaceSelector.matchLabels.kubernetes\.io/metadata\.name`,
      'shop',
    );
  });

  it('freeze leaves a policy alone that another client writes', async () => {
    exist(policyOf('freeze', ['argocd-controller'], frozen));
    for (const command of ['freeze --reason x', 'unfreeze']) {
      const { status: code, err } = await cluster.run(...command.split(' '));
      expect(code).to.equal(1);
      expect(err).to.contain('MySQLRolloutPolicy/freeze is not only a freeze of this command: `argocd-controller`');
    }
    expect(written).to.deep.equal([]);
  });

  it('unfreeze deletes exactly the policy that was read', async () => {
    exist(policyOf('freeze', ['moco-rollout-cli-freeze'], frozen));
    const listing = cluster.fault;
    cluster.fault = (request) => {
      if (request.method === 'DELETE') cluster.clusterScoped[policies] = { items: [] };
      return listing(request);
    };
    const ran = await cluster.run('unfreeze');
    expect(ran).to.deep.equal({
      status: 0,
      out: 'MySQLRolloutPolicy/freeze: all clusters no longer frozen; rollouts continue in 30 s\n',
      err: '',
    });
    expect(written.map(({ method, path, body }) => [method, path, body])).to.deep.equal([
      [
        'DELETE',
        `${policies}/freeze`,
        { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'freeze-uid', resourceVersion: '7' } },
      ],
    ]);
  });

  it('unfreeze names the policies that still freeze, and not those whose end has come', async () => {
    const ended = { paused: true, pause: { until: '2026-07-01T11:00:00Z' } };
    exist(policyOf('night', ['kubectl'], frozen), policyOf('over', ['kubectl'], { enforced: ended }));
    const ran = await cluster.run('unfreeze');
    expect([ran.status, ran.out]).to.deep.equal([
      1,
      'MySQLRolloutPolicy/freeze: nothing to end, there is no such policy\n',
    ]);
    expect(ran.err).to.contain('clusters are still frozen by MySQLRolloutPolicy/night; see');
  });

  it('say what is missing', async () => {
    cluster.fault = (request) => (request.path.startsWith(policies) ? forbidden(request) : null);
    expect((await cluster.run('freeze', '--reason', 'x')).err).to.match(/forbidden|cannot/i);
    cluster.fault = ({ method, path }) =>
      method === 'PATCH' && path.startsWith(policies) ? answer(404, status(404, 'NotFound')) : null;
    expect((await cluster.run('freeze', '--reason', 'x')).err).to.contain('there is no kind MySQLRolloutPolicy on ');
  });
});
