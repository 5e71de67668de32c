import { expect } from 'chai';
import { persistentVolumeClaims } from '../../src/kube/resource.ts';
import { clusterNameLabel, createdByLabel } from '../../src/moco/names.ts';
import { claimOf } from '../controller/moco-objects.ts';
import { answer, status } from '../kube/fake-world.ts';
import { FakeCluster, useFakeCluster } from './fake-cluster.ts';

const labels = { [clusterNameLabel]: 'test', [createdByLabel]: 'moco', 'app.kubernetes.io/name': 'mysql' };

describe('a claim of a member that is being deleted', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    const { server, now } = cluster.bench;
    server.change(persistentVolumeClaims, claimOf(2), { metadata: { labels, deletionTimestamp: now } });
  });

  it('is where the plan stops, and a note in it', async () => {
    const { out } = await cluster.run('plan', 'test');
    expect(out).to.contain('ClaimTerminating: deleting moco-test-2 would destroy its data');
    expect(out).to.contain(
      `moco-test-2 would lose its data with its pod: its claim ${claimOf(2)} is being deleted and will disappear with the pod`,
    );
  });

  it('is a note in the plan of a cluster that has nothing to do', async () => {
    const idle = await FakeCluster.start({ stale: false });
    const { server, now } = idle.bench;
    server.change(persistentVolumeClaims, claimOf(0), { metadata: { labels, deletionTimestamp: now } });
    const { out } = await idle.run('plan', 'test');
    await idle.close();
    expect(out).to.contain('moco-test-0 would lose its data with its pod').and.contain('nothing to do');
  });

  it('is a note in the status', async () => {
    const { out, err } = await cluster.run('status', 'test');
    expect(err).to.equal('');
    expect(out).to.contain(`moco-test-2 would lose its data with its pod: its claim ${claimOf(2)} is being deleted`);
  });

  it('is left out where the user may not read claims', async () => {
    cluster.fault = ({ path }) =>
      path.includes('persistentvolumeclaims') ? answer(403, status(403, 'Forbidden')) : null;
    expect((await cluster.run('status', 'test')).err).to.equal('');
    expect((await cluster.run('plan', 'test')).out).to.contain(
      'left out, since you may not read them: persistentvolumeclaims',
    );
  });

  it('comes with a warning where its rule is overridden', async () => {
    const { err } = await cluster.run('override', 'test', 'ClaimTerminating', '--for=1h', '--reason=cloned anew');
    expect(err).to.contain('THIS DESTROYS THE DATA OF THE MEMBER');
    expect((await cluster.run('override', 'test', 'BackupRunning', '--for=1h', '--reason=x')).err).to.equal('');
  });
});
