import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind, rolloutCompleteCondition } from '../../../src/moco/names.ts';
import { revisionAfter, revisionBefore } from '../../controller/moco-objects.ts';
import type { Patch, Raw } from '../../controller/object-server.ts';
import { answer, status } from '../../kube/fake-world.ts';
import { FakeCluster, forbidden, notFound, useFakeCluster } from '../fake-cluster.ts';

const strategyLabel = 'moco-rollout.io/strategy';

const failedWebhook = (name: string): ReturnType<typeof answer> =>
  answer(
    500,
    status(500, 'InternalError', {
      message: `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "https://moco-rollout-webhook.moco-rollout-system.svc:443/": dial tcp: connection refused`,
    }),
  );

describe('release', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  const annotation = (): string | undefined =>
    (cluster.server.get(clusterKind, 'test').metadata.annotations ?? {})['moco-rollout.io/released'];
  const statefulSet = (): Raw => cluster.server.get(statefulSets, 'moco-test');

  function expectBack(): void {
    const { metadata, spec, status: seen } = statefulSet() as Raw & { spec: Patch; status: Patch };
    expect(metadata.labels).not.to.have.property(strategyLabel);
    expect(spec['updateStrategy']).to.deep.equal({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } });
    expect(seen['currentRevision']).to.equal(revisionAfter);
  }

  it('annotates the MySQLCluster first, then releases the StatefulSet', async () => {
    const ran = await cluster.run('release', 'test');
    expect(ran).to.deep.equal({
      status: 0,
      out: `default/test: is back at RollingUpdate, current revision ${revisionAfter}\n1 of 1 released\n`,
      err: '',
    });
    expectBack();
    expect(annotation()).to.equal('true');
    const writes = cluster.server.writes.map(({ method, path }) => `${method} ${path.replace(/.*\/default\//, '')}`);
    expect(writes.map((write) => write.replace(/\?fieldManager=.*/, ''))).to.deep.equal([
      'PATCH mysqlclusters/test',
      'PATCH statefulsets/moco-test/status',
      'PATCH statefulsets/moco-test?dryRun',
      'PATCH statefulsets/moco-test?dryRun',
      'PATCH statefulsets/moco-test',
    ]);
  });

  it('removes the condition RolloutComplete, which no program would keep correct any more', async () => {
    const conditions = (): readonly Patch[] =>
      (cluster.server.get(clusterKind, 'test')['status'] as { readonly conditions: readonly Patch[] }).conditions;
    const before = conditions();
    const ours = { type: rolloutCompleteCondition, status: 'False', reason: 'RollingOut', observedGeneration: 1 };
    const setOurs = (): Raw =>
      cluster.server.change(clusterKind, 'test', { status: { conditions: [...before, ours] } });
    setOurs();
    expect(await cluster.run('release', 'test')).to.include({ status: 0, err: '' });
    expect(conditions()).to.deep.equal(before);
    setOurs();
    const statusPath = /\/mysqlclusters\/test\/status$/;
    cluster.fault = (request) => (statusPath.test(request.path) ? forbidden(request) : null);
    expect(await cluster.run('release', 'test')).to.include({ status: 0, err: '' });
    expectBack();
  });

  it('needs no MySQLRollout', async () => {
    cluster.fault = (request) => (request.path.includes('/mysqlrollouts') ? notFound() : null);
    expect(await cluster.run('release', '--all')).to.include({ status: 0, err: '' });
    expectBack();
    expect(annotation()).to.equal('true');
  });

  it('does not release a paused cluster, names who has paused it, and releases it on request', async () => {
    cluster.server.change(rolloutKind, 'test', { spec: { paused: true } });
    const { status: code, err } = await cluster.run('release', 'test');
    expect(code).to.equal(1);
    expect(err).to.contain(
      'default/test: it is paused by MySQLRollout; end the pause first, or release it with --include-paused',
    );
    expect(cluster.server.writes).to.deep.equal([]);
    expect(await cluster.run('release', 'test', '--include-paused')).to.include({ status: 0, err: '' });
    expectBack();
  });

  it('completes an earlier release that was killed after any of its writes', async () => {
    for (let writes = 0; writes < 5; writes += 1) {
      const own = await FakeCluster.start();
      try {
        own.fault = (request) => (request.method !== 'GET' && own.server.writes.length >= writes ? 'hang' : null);
        const killed = await own.run('release', 'test', '--request-timeout=1s', '--timeout=1s');
        expect([killed.status, own.server.writes.length], `killed after ${writes}`).to.deep.equal([1, writes]);
        own.fault = () => null;
        const next = await own.run('release', 'test');
        expect(next, `after ${writes}`).to.include({ status: 0, err: '' });
        const { metadata, status: seen } = own.server.get(statefulSets, 'moco-test') as Raw & { status: Patch };
        expect(metadata.labels).not.to.have.property(strategyLabel);
        expect(seen['currentRevision']).to.equal(revisionAfter);
      } finally {
        await own.close();
      }
    }
  });

  it('sets the current revision again if an earlier sync has restored the old one', async () => {
    cluster.server.script('PATCH', /statefulsets\/moco-test$/, (_, carryOut) => {
      const tried = carryOut();
      cluster.server.script('PATCH', /statefulsets\/moco-test$/, (__, again) => {
        const second = again();
        cluster.server.script('PATCH', /statefulsets\/moco-test$/, (___, real) => {
          const done = real();
          cluster.server.change(statefulSets, 'moco-test', { status: { currentRevision: revisionBefore } });
          return done;
        });
        return second;
      });
      return tried;
    });
    expect((await cluster.run('release', 'test')).status).to.equal(0);
    expectBack();
  });

  it('reads again after a conflict', async () => {
    cluster.server.before('PATCH', /statefulsets\/moco-test\/status/, () =>
      cluster.server.change(statefulSets, 'moco-test', { metadata: { annotations: { changed: 'meanwhile' } } }),
    );
    expect((await cluster.run('release', 'test')).status).to.equal(0);
    expectBack();
  });

  it('leaves released clusters as they are', async () => {
    await cluster.run('release', '--all');
    const writes = cluster.server.writes.length;
    const again = await cluster.run('release', '--all');
    expect(again).to.deep.equal({ status: 0, out: 'nothing to release\n', err: '' });
    expect(cluster.server.writes.length).to.equal(writes);
  });

  it('reports what is left if the resulting partition would let a pod be replaced', async () => {
    cluster.server.admit = (after) =>
      after.kind === 'StatefulSet' ? { ...after, spec: { ...(after['spec'] as Patch), updateStrategy: {} } } : after;
    const { status: code, out, err } = await cluster.run('release', 'test');
    expect(code).to.equal(1);
    expect(out).to.equal('0 of 1 released\n');
    expect(err).to.equal(
      'error: not released:\n  default/test: ReleaseUnsafe: the result would be RollingUpdate with partition none of 3\n',
    );
  });

  for (const [webhook, helps] of [
    [
      'statefulset.moco-rollout.io',
      'kubectl delete mutatingwebhookconfiguration moco-rollout-mutating-webhook-configuration',
    ],
    [
      'partition.moco-rollout.io',
      'kubectl delete mutatingwebhookconfiguration moco-rollout-partition-webhook-configuration',
    ],
    ['statefulset.kb.io', 'is moco-controller running?'],
  ] as const) {
    it(`suggests a remedy if webhook ${webhook} is unavailable`, async () => {
      cluster.fault = (request) =>
        /PATCH.*statefulsets\/moco-test\?/.test(`${request.method} ${request.path}`) ? failedWebhook(webhook) : null;
      const { status: code, err } = await cluster.run('release', 'test', '--timeout=1s');
      expect(code).to.equal(1);
      expect(err).to.contain('timed out').and.to.contain(helps);
    });
  }

  it('ends at once if a request is forbidden, and names it', async () => {
    cluster.fault = (request) => (request.method === 'PATCH' ? forbidden(request) : null);
    const { status: code, err } = await cluster.run('release', 'test');
    expect(code).to.equal(1);
    expect(err).to.contain('default/test: user "me" cannot patch').and.to.contain('/mysqlclusters/test');
  });

  it('is undone by adopt', async () => {
    await cluster.run('release', 'test');
    expect(await cluster.run('adopt', 'test')).to.deep.equal({
      status: 0,
      out: 'default/test: no longer released\n',
      err: '',
    });
    expect(annotation()).to.equal(undefined);
    expect((await cluster.run('adopt', 'test')).out).to.equal('default/test: was not released\n');
  });
});
