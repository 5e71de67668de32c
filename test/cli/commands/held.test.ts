import { expect } from 'chai';
import { timestampOf } from '../../../src/base/json.ts';
import type { HoldRule } from '../../../src/core/decision.ts';
import { type FakeCluster, useFakeCluster } from '../fake-cluster.ts';

describe('status --held of a fleet', () => {
  let cluster: FakeCluster;

  /** So many clusters, the first of which waits longest. */
  function add(rule: HoldRule | null, count: number, more: object = {}): void {
    const now = cluster.bench.world.wall();
    for (let index = 0; index < count; index += 1) {
      const name = `${(rule ?? 'free').toLowerCase()}-${index}`;
      const labels = { env: rule === 'AwaitingEarlierStage' ? 'production' : 'development' };
      const since = timestampOf(now - (1000 - index) * 1000);
      const hold = rule === null ? {} : { hold: { rule, message: 'a message', since } };
      const status = { phase: 'Progressing', replicas: 3, updatedReplicas: index % 2, ...hold, ...more };
      cluster.add(name, status, labels);
    }
  }

  useFakeCluster((fresh) => {
    cluster = fresh;
    add(null, 20);
    add('AwaitingEarlierStage', 240);
    add('OutsideMaintenanceWindow', 30);
    add('AwaitingApproval', 2);
    add('ClusterNotHealthy', 4);
    add('UpdateRevisionFailing', 3);
    add('BlockedByPDB', 1, { conditions: [{ type: 'Stalled', status: 'True' }] });
  });

  it('counts the clusters of each hold, and shows the holds that need a person first', async () => {
    const { out } = await cluster.run('status', '-A', '--held');
    const [counts = '', list = ''] = out.split('\n\n');
    expect(counts.split('\n').map((row) => row.split(/ {2,}/))).to.deep.equal([
      ['HOLD', 'CLUSTERS', 'LONGEST', 'ENDED BY'],
      ['BlockedByPDB', '1', '16m40s', 'Kubernetes, MOCO, a person'],
      ['UpdateRevisionFailing', '3', '16m40s', 'a person'],
      ['AwaitingApproval', '2', '16m40s', 'a person'],
      ['ClusterNotHealthy', '4', '16m40s', 'MOCO'],
      ['AwaitingEarlierStage', '240', '16m40s', 'time, a person'],
      ['OutsideMaintenanceWindow', '30', '16m40s', 'time'],
    ]);
    const names = list
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split(/ +/)[1]);
    expect(names).to.have.length(280);
    expect(names.slice(0, 5)).to.deep.equal([
      'blockedbypdb-0',
      'updaterevisionfailing-0',
      'updaterevisionfailing-1',
      'updaterevisionfailing-2',
      'awaitingapproval-0',
    ]);
  });

  it('counts no cluster that a freeze pauses and that has nothing to do', async () => {
    add('Paused', 5, { conditions: [{ type: 'Ready', status: 'True' }] });
    const { out } = await cluster.run('status', '-A', '--held');
    expect(out).to.not.contain('Paused');
    add('Paused', 2, { conditions: [{ type: 'Ready', status: 'False' }] });
    expect((await cluster.run('status', '-A', '--held')).out).to.match(/^Paused +2 /m);
  });

  it('prints a long sentence once if many clusters share it', async () => {
    const message =
      '3 rollouts in the fleet fail, a/b among them (each other namespace counts once); from 3 on no other one begins (--max-failing-rollouts)';
    const hold = { rule: 'FleetFailing', message, since: timestampOf(cluster.bench.world.wall() - 5000) };
    add('FleetFailing', 20, { hold });
    const { out } = await cluster.run('status', '-A');
    expect(out.match(/^default .* FleetFailing \(1\), for 5s$/gm)).to.have.length(20);
    expect(out.split(message)).to.have.length(2);
    expect(out).to.match(/\n\n\(1\) FleetFailing: 3 rollouts in the fleet fail, [^\n]*\n$/);
  });

  it('combines with --stale and with labels', async () => {
    const { out } = await cluster.run('status', '-A', '--held', '--stale', '-l', 'env=production');
    expect(
      out
        .split('\n\n')[0]
        ?.split('\n')
        .map((row) => row.split(/ +/)[0]),
    ).to.deep.equal(['HOLD', 'AwaitingEarlierStage']);
    const asked = cluster.requests.find(({ path }) => path.includes('/mysqlclusters?'));
    expect(asked?.path).to.contain('labelSelector=env%3Dproduction');
  });

  it('shows a rule of a later version of the controller', async () => {
    add('AwaitingFullMoon' as HoldRule, 1);
    expect((await cluster.run('status', '--held')).out).to.match(/AwaitingFullMoon +1 +16m40s +-/);
  });

  it('lists every cluster as before without --held', async () => {
    const { out } = await cluster.run('status', '-A');
    expect(out.split('\n')[0]).to.match(/^NAMESPACE +NAME/);
    expect(out.trimEnd().split('\n')).to.have.length(302);
  });
});
