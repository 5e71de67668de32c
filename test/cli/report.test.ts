import { expect } from 'chai';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { FakeCluster, forbidden } from './fake-cluster.ts';
import { expectGolden } from './golden.ts';
import { recordRollout } from './recorded-rollout.ts';

describe('report', () => {
  let cluster: FakeCluster;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
    recordRollout(cluster);
  });

  afterEach(() => cluster.close());

  it('is one page with a lane for each member, its time away, the switchover and the waits', async () => {
    const { status, out, err } = await cluster.run('report', 'test');
    expect([status, err]).to.deep.equal([0, '']);
    expect(out.match(/class="away" style/g)).to.have.length(3);
    expect(out.match(/class="lane"/g)).to.have.length(3);
    expect(out.match(/class="switchover" style/g)).to.have.length(1);
    expect(out.match(/class="hold" style/g)).to.have.length(1);
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
    expect(out).not.to.contain('class="away" style');
    expect(out).to.contain('31s (when is not kept any more)');
  });

  it('has something to show of a cluster without any rollout', async () => {
    cluster.server.remove(rolloutKind, 'test');
    expect((await cluster.run('report', 'test')).out).to.contain('No rollout has been seen yet.');
  });
});
