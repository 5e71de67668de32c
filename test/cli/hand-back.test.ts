import { expect } from 'chai';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { statefulSets } from '../../src/kube/resource.ts';
import { revisionAfter, revisionBefore } from '../controller/moco-objects.ts';
import type { Patch, Raw } from '../controller/object-server.ts';
import { answer, status } from '../kube/fake-world.ts';
import { FakeCluster, forbidden, notFound } from './fake-cluster.ts';

const strategyLabel = 'moco-rollout.io/strategy';

const failedWebhook = (name: string): ReturnType<typeof answer> =>
  answer(
    500,
    status(500, 'InternalError', {
      message: `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "https://moco-rollout-webhook.moco-rollout-system.svc:443/": dial tcp: connection refused`,
    }),
  );

describe('hand-back', () => {
  let cluster: FakeCluster;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
  });

  afterEach(() => cluster.close());

  const rollout = (): Patch => (cluster.server.find(rolloutKind, 'test')?.['status'] ?? {}) as Patch;
  const statefulSet = (): Raw => cluster.server.get(statefulSets, 'moco-test');

  function expectBack(): void {
    const { metadata, spec, status: seen } = statefulSet() as Raw & { spec: Patch; status: Patch };
    expect(metadata.labels).not.to.have.property(strategyLabel);
    expect(spec['updateStrategy']).to.deep.equal({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } });
    expect(seen['currentRevision']).to.equal(revisionAfter);
  }

  it('writes the marker and the replaced revision down first, in one write, then gives the StatefulSet back', async () => {
    const ran = await cluster.run('hand-back', 'test');
    expect(ran).to.deep.equal({
      status: 0,
      out: `default/test: is back at RollingUpdate, current revision ${revisionAfter}\n1 of 1 handed back\n`,
      err: '',
    });
    expectBack();
    const writes = cluster.server.writes.map(({ method, path }) => `${method} ${path.replace(/.*\/default\//, '')}`);
    expect(writes).to.deep.equal([
      'PUT mysqlrollouts/test/status',
      'PATCH statefulsets/moco-test/status',
      'PATCH statefulsets/moco-test?dryRun',
      'PATCH statefulsets/moco-test?dryRun',
      'PATCH statefulsets/moco-test',
      'PUT mysqlrollouts/test/status',
    ]);
    const written = cluster.server.writes[0]?.body['status'] as { handedBack: object; promotion: object };
    expect(written.promotion).to.deep.equal({ from: revisionBefore, to: revisionAfter });
    expect(written.handedBack).to.include({ generation: 1, revision: revisionAfter });
    expect(rollout()).to.have.property('handedBack');
    expect(rollout()).not.to.have.property('promotion');
  });

  it('makes a MySQLRollout where there is none, for the marker', async () => {
    cluster.server.remove(rolloutKind, 'test');
    expect((await cluster.run('hand-back', '--all')).status).to.equal(0);
    expectBack();
    expect(rollout()).to.have.property('handedBack');
  });

  it('goes on without a marker where there is no such kind, and says what that means', async () => {
    cluster.fault = (request) => (request.path.includes('/mysqlrollouts') ? notFound() : null);
    const { status: code, err } = await cluster.run('hand-back', '--all');
    expect(code).to.equal(0);
    expect(err).to.contain('the kind MySQLRollout is not there');
    expectBack();
  });

  it('finishes whatever an earlier one was killed in, after any of its writes', async () => {
    for (let writes = 0; writes < 6; writes += 1) {
      const own = await FakeCluster.start();
      try {
        own.fault = (request) => (request.method !== 'GET' && own.server.writes.length >= writes ? 'hang' : null);
        const killed = await own.run('hand-back', 'test', '--request-timeout=100ms', '--timeout=100ms');
        expect(killed.status, `killed after ${writes}`).to.equal(1);
        own.fault = () => null;
        const next = await own.run('hand-back', 'test');
        expect(next, `after ${writes}`).to.include({ status: 0, err: '' });
        const { metadata, status: seen } = own.server.get(statefulSets, 'moco-test') as Raw & { status: Patch };
        expect(metadata.labels).not.to.have.property(strategyLabel);
        expect(seen['currentRevision']).to.equal(revisionAfter);
        expect(own.server.find(rolloutKind, 'test')?.['status']).not.to.have.property('promotion');
      } finally {
        await own.close();
      }
    }
  });

  it('sets the current revision again where a sync of before has put the old one back', async () => {
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
    expect((await cluster.run('hand-back', 'test')).status).to.equal(0);
    expectBack();
  });

  it('reads again after a conflict', async () => {
    cluster.server.before('PUT', /mysqlrollouts/, () =>
      cluster.server.change(rolloutKind, 'test', { status: { phase: 'Progressing' } }),
    );
    cluster.server.before('PATCH', /statefulsets\/moco-test\/status/, () =>
      cluster.server.change(statefulSets, 'moco-test', { metadata: { annotations: { changed: 'meanwhile' } } }),
    );
    expect((await cluster.run('hand-back', 'test')).status).to.equal(0);
    expectBack();
    expect(rollout()).to.include({ phase: 'Progressing' });
  });

  it('leaves what is back already as it is', async () => {
    await cluster.run('hand-back', '--all');
    const writes = cluster.server.writes.length;
    const again = await cluster.run('hand-back', '--all');
    expect(again).to.deep.equal({ status: 0, out: 'nothing to hand back\n', err: '' });
    expect(cluster.server.writes.length).to.equal(writes);
  });

  it('says what is left and why where it would not come out with a partition that takes nobody', async () => {
    cluster.server.admit = (after) =>
      after.kind === 'StatefulSet' ? { ...after, spec: { ...(after['spec'] as Patch), updateStrategy: {} } } : after;
    const { status: code, out, err } = await cluster.run('hand-back', 'test');
    expect(code).to.equal(1);
    expect(out).to.equal('0 of 1 handed back\n');
    expect(err).to.equal(
      'error: left as they are:\n  default/test: HandBackUnsafe: it would come out as RollingUpdate with partition none of 3\n',
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
    it(`says what helps where webhook ${webhook} can't be reached`, async () => {
      cluster.fault = (request) =>
        /PATCH.*statefulsets\/moco-test\?/.test(`${request.method} ${request.path}`) ? failedWebhook(webhook) : null;
      const { status: code, err } = await cluster.run('hand-back', 'test', '--timeout=300ms');
      expect(code).to.equal(1);
      expect(err).to.contain('timed out').and.to.contain(helps);
    });
  }

  it('ends at once where it is forbidden, with what', async () => {
    cluster.fault = (request) => (request.method === 'PUT' ? forbidden(request) : null);
    const { status: code, err } = await cluster.run('hand-back', 'test');
    expect(code).to.equal(1);
    expect(err).to.contain('default/test: user "me" cannot put').and.to.contain('/mysqlrollouts/test/status');
  });

  it('wants to be told which clusters', async () => {
    expect(await cluster.run('hand-back')).to.deep.equal({
      status: 2,
      out: '',
      err: 'error: expected a NAME, -n NAMESPACE for all clusters of a namespace, or --all, got none of them; see `kubectl moco-rollout hand-back --help`\n',
    });
    for (const argv of [
      ['test', '--all'],
      ['--all', '-n', 'default'],
      ['test', '--timeout=soon'],
    ]) {
      expect((await cluster.run('hand-back', ...argv)).status, argv.join(' ')).to.equal(2);
    }
  });

  it('is ended by take', async () => {
    await cluster.run('hand-back', 'test');
    expect(await cluster.run('take', 'test')).to.deep.equal({
      status: 0,
      out: 'default/test: no longer handed back\n',
      err: '',
    });
    expect(rollout()).not.to.have.property('handedBack');
    expect((await cluster.run('take', 'test')).out).to.equal('default/test: was not handed back\n');
  });
});
