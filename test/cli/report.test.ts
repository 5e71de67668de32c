import { expect } from 'chai';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { events } from '../../src/kube/resource.ts';
import { FakeCluster, forbidden } from './fake-cluster.ts';
import { expectGolden } from './golden.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 6, 1, 12, 0, seconds)).toISOString();

function tell({ server }: FakeCluster, reason: string, seconds: number, note: string, more: object = {}): void {
  server.create(events, {
    metadata: { name: `${reason}-${seconds}` },
    reason,
    eventTime: at(seconds),
    note,
    regarding: { kind: 'MySQLCluster', name: 'test' },
    ...more,
  });
}

describe('report', () => {
  let cluster: FakeCluster;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
    cluster.bench.world.freeze(600_000);
    cluster.server.change(rolloutKind, 'test', {
      status: {
        phase: 'UpToDate',
        history: [
          {
            revision: 'moco-test-7966559688',
            from: 'moco-test-5897fd84f8',
            startedAt: at(0),
            finishedAt: at(120),
            disruptions: 3,
            switchovers: 1,
            outcome: 'Complete',
            memberSeconds: { 0: 30, 1: 31.4, 2: 29 },
            changes: [{ path: 'spec.containers[mysqld].image', from: 'mysql:8.4.8', to: '<script>alert(1)</script>' }],
          },
        ],
      },
    });
    const pod = (ordinal: number): object => ({ related: { kind: 'Pod', name: `moco-test-${ordinal}` } });
    tell(cluster, 'Evicted', 5, 'evicting moco-test-2', { action: 'ReplicaHealthy', ...pod(2) });
    tell(cluster, 'Evicted', 40, 'evicting moco-test-1', { action: 'ReplicaHealthy', ...pod(1) });
    tell(cluster, 'AwaitingSwitchover', 75, 'asked MOCO to move the primary', { action: 'Waiting' });
    tell(cluster, 'Demoted', 74, 'asking MOCO to move the primary away', { action: 'PrimaryLast', ...pod(0) });
    tell(cluster, 'Evicted', 80, 'evicting moco-test-0', { action: 'ReplicaHealthy', ...pod(0) });
    tell(cluster, 'Evicted', 500, 'evicting moco-test-2 of another rollout', pod(2));
  });

  afterEach(() => cluster.close());

  it('is one page with a lane for each member, its time away, the switchover and the waits', async () => {
    const { status, out, err } = await cluster.run('report', 'test');
    expect([status, err]).to.deep.equal([0, '']);
    expect(out.match(/class="away"/g)).to.have.length(3);
    expect(out.match(/class="lane"/g)).to.have.length(3);
    expect(out.match(/<line class="switchover"/g)).to.have.length(1);
    expect(out.match(/<circle class="hold"/g)).to.have.length(1);
    expect(out).to.contain('31s from 12:00:40');
    expectGolden('report.html', out);
  });

  it('needs nothing from anywhere, and takes no text for anything else', async () => {
    const { out } = await cluster.run('report', 'test');
    expect(out).not.to.match(/<script|https?:|url\(|@import|src=|href=/);
    expect(out).to.contain('&lt;script&gt;alert(1)');
    expect(out).to.contain('prefers-color-scheme: dark');
  });

  it('says that it is not known any more when members were taken', async () => {
    cluster.fault = (request) => (request.path.includes('/events') ? forbidden(request) : null);
    const { status, out, err } = await cluster.run('report', 'test');
    expect([status, err]).to.deep.equal([0, 'warning: you may not read events: when members were taken is left out\n']);
    expect(out).not.to.contain('class="away"');
    expect(out).to.contain('31s (when is not kept any more)');
  });

  it('has something to show of a cluster without any rollout', async () => {
    cluster.server.remove(rolloutKind, 'test');
    expect((await cluster.run('report', 'test')).out).to.contain('No rollout has been seen yet.');
  });
});
