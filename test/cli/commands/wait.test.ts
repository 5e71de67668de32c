import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { type FakeCluster, useFakeCluster } from '../fake-cluster.ts';
import { phases } from '../phases.ts';

describe('wait', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  it('exits with 0 if the rollout is complete', async () => {
    await phases['complete']?.(cluster);
    expect(await cluster.run('wait', 'test')).to.deep.equal({ status: 0, out: 'default/test: complete\n', err: '' });
  });

  it('ignores the end of another generation’s rollout', async () => {
    await phases['complete']?.(cluster);
    cluster.server.change(clusterKind, 'test', { metadata: { generation: 2 } });
    const { status, err } = await cluster.run('wait', 'test', '--timeout=200ms');
    expect(status).to.equal(1);
    expect(err).to.contain('error: default/test: not complete in time');
  });

  it('waits until `status` says the same', async () => {
    await phases['complete']?.(cluster);
    const progressing = { phase: 'Progressing', conditions: [{ type: 'Ready', status: 'False' }] };
    cluster.server.change(rolloutKind, 'test', { status: progressing });
    const { status, err } = await cluster.run('wait', 'test', '--timeout=200ms');
    expect(status).to.equal(1);
    expect(err).to.contain('error: default/test: not complete in time: 3 of 3 updated\n');
  });

  it('counts no member as updated that the controller has not counted', async () => {
    cluster.add('other', { phase: 'Progressing' });
    const { err } = await cluster.run('wait', 'other', '--timeout=200ms');
    expect(err).to.contain('not complete in time: 0 of 3 updated\n');
  });

  it('exits with 1 at the timeout, and reports what it waited for', async () => {
    await phases['paused']?.(cluster);
    expect(await cluster.run('wait', 'test', '--timeout=200ms')).to.deep.equal({
      status: 1,
      out: '',
      err:
        'Paused: the rollout is paused by spec.paused of the MySQLRollout\n' +
        'error: default/test: not complete in time: Paused: the rollout is paused by spec.paused of the MySQLRollout\n',
    });
  });

  it('exits with 1 at once if only a person can help', async () => {
    await phases['failing']?.(cluster);
    const { status, err } = await cluster.run('wait', 'test');
    expect(status).to.equal(1);
    expect(err).to.match(
      /^error: default\/test: stalled by UpdateRevisionFailing: the new revision fails on moco-test-2/,
    );
  });

  it('exits with 1 if the cluster is deleted', async () => {
    cluster.server.change(clusterKind, 'test', { metadata: { deletionTimestamp: cluster.bench.now } });
    const { status, err } = await cluster.run('wait', 'test');
    expect([status, err]).to.deep.equal([1, 'error: default/test: the MySQLCluster is gone\n']);
  });
});
