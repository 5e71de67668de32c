import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { type FakeCluster, forbidden, useFakeCluster } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';
import { recordedHistory, recordRollout } from '../recorded-rollout.ts';

describe('report', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    recordRollout(cluster);
  });

  it('is one page with a lane for each member, its unavailability, the switchover and the waits', async () => {
    const { status, out, err } = await cluster.run('report', 'test');
    expect([status, err]).to.deep.equal([0, '']);
    expect(out.match(/class="unavailable" style/g)).to.have.length(3);
    expect(out.match(/class="lane"/g)).to.have.length(3);
    expect(out.match(/class="switchover" style/g)).to.have.length(1);
    expect(out.match(/class="hold" style/g)).to.have.length(1);
    expect(out).to.contain('31s from 12:00:40');
    expectGolden('report.html', out);
  });

  it('loads nothing, and escapes all text', async () => {
    const { out } = await cluster.run('report', 'test');
    expect(out).not.to.match(/<script|https?:|url\(|@import|src=|href=/);
    expect(out).to.contain('&lt;script&gt;alert(1)');
    expect(out).to.contain('prefers-color-scheme: dark');
  });

  it('reports that the times of the members are not known any more', async () => {
    cluster.fault = (request) => (request.path.includes('/events') ? forbidden(request) : null);
    const { status, out, err } = await cluster.run('report', 'test');
    expect([status, err]).to.deep.equal([
      0,
      'warning: you may not read events: the page lacks the times of single steps\n',
    ]);
    expect(out).not.to.contain('class="unavailable" style');
    expect(out).to.contain('31s (start unknown)');
  });

  it('names the restarts and the switchover that updates in place have avoided', async () => {
    const [entry] = recordedHistory;
    const { memberDurations: _, ...inPlace } = { ...entry, disruptions: 1, switchovers: 0, updatedInPlace: [0, 1, 2] };
    const more = { resizedInPlace: [2], primaryInPlace: [0], mysqldRestarted: [1] };
    cluster.server.change(rolloutKind, 'test', { status: { history: [{ ...inPlace, ...more }] } });
    const { out } = await cluster.run('report', 'test');
    expect(out).to.contain('avoided 2 restarts and 1 switchover by updates in place (1 resized)');
    expect(out.match(/updated in place, mysqld kept running/g)).to.have.length(2);
    expect(out).to.contain('<td>moco-test-1</td><td>updated in place, but mysqld restarted anyway</td>');
  });

  it('says from which version of MySQL to which one', async () => {
    const [entry] = recordedHistory;
    const mysql = { from: '8.0.40', to: '8.4.8' };
    cluster.server.change(rolloutKind, 'test', { status: { history: [{ ...entry, mysql }] } });
    expect((await cluster.run('report', 'test')).out).to.contain('MySQL 8.0.40 → 8.4.8');
    const { out } = await cluster.run('history', 'test');
    expect(out)
      .to.match(/SWITCHOVERS +MYSQL +CHANGES/)
      .and.to.contain(' 8.0.40 → 8.4.8 ');
  });

  it('shows a cluster without any rollout', async () => {
    cluster.server.remove(rolloutKind, 'test');
    expect((await cluster.run('report', 'test')).out).to.contain('No rollout has been seen yet.');
  });
});
