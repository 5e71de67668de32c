import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../src/kube/resource.ts';
import { claimOf } from '../../controller/moco-objects.ts';
import { type FakeCluster, useFakeCluster } from '../fake-cluster.ts';

describe('plan --node', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    cluster.bench.spread();
    cluster.server.change(rolloutKind, 'test', { status: { phase: 'UpToDate', strategy: 'OnDelete' } });
  });

  const evacuates = (): void => {
    cluster.bench.setting({ nodeMaintenance: 'Evacuate' });
    cluster.server.change(rolloutKind, 'test', { status: { nodeMaintenance: { setting: 'Evacuate' } } });
  };

  it('shows how a replica leaves, and that none is left, without writing anything', async () => {
    evacuates();
    const { out, status } = await cluster.run('plan', '--node', 'n-2');
    expect(status).to.equal(0);
    expect(out).to.contain('n-2   is not being taken out of service now   1 member of 1 cluster');
    expect(out).to.contain('1. evicting moco-test-2');
    expect(out).to.contain('after these steps no member is left on node n-2');
    expect(cluster.server.writes).to.deep.equal([]);
  });

  it('moves the primary first', async () => {
    const { out } = await cluster.run('plan', '--node', 'n-0');
    expect(out).to.contain(
      'asking MOCO to move the primary away from moco-test-0: its node is being taken out of service',
    );
    expect(out).to.contain('nodeMaintenance is Ignore: the drain ends these pods');
  });

  it('names the member that has to stay, and why', async () => {
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n-2'] }] };
    const spec = { nodeAffinity: { required: { nodeSelectorTerms: [term] } } };
    cluster.server.create(persistentVolumes, { metadata: { namespace: '', name: 'pvc-2' }, spec });
    cluster.server.change(persistentVolumeClaims, claimOf(2), { spec: { volumeName: 'pvc-2' } });
    const { out } = await cluster.run('plan', '--node', 'n-2', '-o', 'json');
    const { left, plans } = JSON.parse(out) as { left: string[]; plans: { entries: { rule: string | null }[] }[] };
    expect(left).to.deep.equal(['default/moco-test-2']);
    expect(plans[0]?.entries.map(({ rule }) => rule)).to.include('NodeTakesNoPods');
  });

  it('counts the restarts that the rollout saves', async () => {
    evacuates();
    const { out } = await cluster.run('plan', '--node', 'n-1');
    expect(out).to.contain('1 member updated and moved by the same restart, so 1 restart fewer');
  });

  it('says that no member is there', async () => {
    expect((await cluster.run('plan', '--node', 'n-3')).out).to.contain('no member is on node n-3');
  });

  it('refuses a node that does not exist, and a NAME', async () => {
    const gone = await cluster.run('plan', '--node', 'n-9');
    expect(gone.status).to.equal(1);
    expect(gone.err).to.match(/^error: there is no node n-9 on http:\S+\n$/);
    const both = await cluster.run('plan', 'test', '--node', 'n-2');
    expect([both.status, both.err]).to.deep.equal([
      2,
      'error: expected either --node or a NAME, got both; see `kubectl moco-rollout plan --help`\n',
    ]);
  });
});
