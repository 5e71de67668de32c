import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { fleetClusters, holdCosts, imageCounts } from '../../../src/cli/html/figures.ts';
import { fleetPage } from '../../../src/cli/html/fleet-page.ts';
import { type FakeCluster, forbidden, sequencesPath, useFakeCluster } from '../fake-cluster.ts';
import { fleetNow, recordedFleet } from '../recorded-fleet.ts';
import { recordRollout } from '../recorded-rollout.ts';
import { addSequence, production } from '../staged-objects.ts';

const monthAgo = fleetNow - 30 * 86_400_000;

function pageOf(count: number, nameOf?: (index: number) => string): string {
  const clusters = fleetClusters(recordedFleet(count, nameOf), monthAgo, fleetNow);
  return fleetPage({
    scope: 'all namespaces',
    clusters,
    sequences: [],
    sinceMilliseconds: monthAgo,
    nowMilliseconds: fleetNow,
    queriesMysql: false,
  });
}

const rowsOf = (html: string): readonly string[] => html.match(/<tr class=.*/g) ?? [];

describe('the figures of a fleet', () => {
  const clusters = fleetClusters(recordedFleet(14), monthAgo, fleetNow);

  it('have the clusters first that are stalled, then those in progress, then by the newest rollout', () => {
    expect(clusters.map(({ stalled, phase }) => (stalled ? 'Stalled' : phase)).join(' ')).to.equal(
      'Stalled Stalled Progressing Progressing Paused Paused ' +
        'UpToDate UpToDate Superseded Superseded UpToDate Unknown UpToDate Unknown',
    );
  });

  it('have what each hold cost, including the current one', () => {
    const costs = Object.fromEntries(holdCosts(clusters).map(({ rule, ...cost }) => [rule, cost]));
    expect(holdCosts(clusters)[0]?.rule).to.equal('Paused');
    expect(costs).to.deep.include({
      Paused: { seconds: 18_000, clusters: 2, longest: 9000, now: 2 },
      BackupRunning: { seconds: 1800, clusters: 6, longest: 300, now: 0 },
      AwaitingFleetSlot: { seconds: 480, clusters: 2, longest: 240, now: 0 },
    });
  });

  it('leave out rollouts that ended earlier', () => {
    const recent = fleetClusters(recordedFleet(1), fleetNow - 86_400_000, fleetNow);
    expect([clusters[6]?.rollouts.length, recent[0]?.rollouts.length]).to.deep.equal([2, 1]);
  });
});

describe('the page of a fleet', () => {
  it('has a row for each cluster with a bar for each rollout, and names what they waited for', () => {
    const html = pageOf(7);
    expect(rowsOf(html)).to.have.length(7);
    expect(rowsOf(html)[0]).to.match(
      /^<tr class="stalled rolling held rolled">.*default\/db-4.*UpdateRevisionFailing 45m00s/,
    );
    expect(html.match(/class="rollout [A-Za-z]+" style/g)).to.have.length(6);
    expect(html).to.contain('<li><b>2</b>switchovers, 3s each</li>').and.to.contain('2 in 6s');
  });

  it('shows one cluster, and none', () => {
    expect(rowsOf(pageOf(1))).to.have.length(1);
    expect(pageOf(0)).to.contain('There is no MySQLCluster.');
  });

  it('loads nothing, has no script but the one for the search, and escapes all text', () => {
    const html = pageOf(7, (index) => `"><script>alert(${index})</script>`);
    expect(html).not.to.match(/https?:|url\(|@import|src=|href=/);
    expect(html.match(/<script/g)).to.have.length(1);
    expect(html).to.match(/script-src 'sha256-[^']+'">/);
    expect(html).to.contain('default/&quot;&gt;&lt;script&gt;alert(0)');
  });

  it('says what was rolled out, how many have it, and how many are being updated to it', () => {
    const change = (from: string, to: string) => [{ path: 'spec.containers[mysqld].image', from, to }];
    const [first, second, third] = recordedFleet(3);
    if (
      !first?.rollout?.status?.history?.[1] ||
      !second?.rollout?.status?.history?.[0] ||
      !third?.rollout?.status?.rollout
    ) {
      throw new Error('expected two rollouts that ended, and one under way');
    }
    Object.assign(first.rollout.status.history[1], { changes: change('mysql:1', 'mysql:2') });
    Object.assign(second.rollout.status.history[0], { changes: change('mysql:1', 'mysql:3') });
    Object.assign(third.rollout.status.rollout, { changes: change('mysql:1', 'mysql:2') });
    const fleet = fleetClusters([first, second, third], monthAgo, fleetNow);
    const counted = { container: 'mysqld', next: 0 };
    expect(imageCounts(fleet)).to.deep.equal([
      { ...counted, image: 'mysql:1', clusters: 2 },
      { ...counted, image: 'mysql:2', clusters: 1, next: 1 },
    ]);
    expect(pageOf(1)).not.to.contain('What was rolled out');
  });

  it('calls rollouts that never began so, and not superseded', () => {
    const [, second] = recordedFleet(2);
    const entry = second?.rollout?.status?.history?.[0];
    if (second === undefined || entry === undefined) throw new Error('expected a rollout that was superseded');
    Object.assign(entry, { disruptions: 0, memberDurations: undefined });
    const clusters = fleetClusters([second], monthAgo, fleetNow);
    const times = { sinceMilliseconds: monthAgo, nowMilliseconds: fleetNow, queriesMysql: null };
    const html = fleetPage({ scope: 'x', clusters, sequences: [], ...times });
    expect(html)
      .to.contain('<li><b>0</b>superseded</li>')
      .and.to.contain('<li><b>1</b>replaced before they began</li>')
      .and.to.contain('class="rollout NotBegun"');
  });

  it('has different colors for rollouts that wait and those that roll', () => {
    const html = pageOf(7);
    expect(html.match(/class="rollout (?:Progressing|Paused|Failing)"(?= style)/g)).to.deep.equal([
      'class="rollout Failing"',
      'class="rollout Progressing"',
      'class="rollout Paused"',
    ]);
    const colorOf = (state: string): string | undefined =>
      html.match(new RegExp(String.raw`\.rollout\.${state}[^{]*\{ background: (var\(--[a-z]+\))`))?.[1];
    const [rolling] = /(?<=\.rollout \{ background: )var\(--[a-z]+\)/.exec(html) ?? [];
    const colors = [rolling, colorOf('Waiting'), colorOf('Failing'), colorOf('Complete')];
    expect(new Set(colors).size, colors.join(' ')).to.equal(4);
    expect(colorOf('Paused')).to.equal(colorOf('Waiting'));
    expect(colorOf('Waiting')).to.equal('var(--unavailable)');
  });

  it('stays below half a kilobyte for each of 1,000 clusters', () => {
    expect(pageOf(1000).length).to.be.below(600_000);
  });
});

describe('report --fleet', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    recordRollout(cluster);
  });

  it('writes a page about the clusters and the sequences', async () => {
    addSequence(cluster, 'production', production);
    const { status, out, err } = await cluster.run('report', '--fleet');
    expect([status, err]).to.deep.equal([0, '']);
    expect(out).to.contain('<title>Rollouts of all namespaces</title>').and.to.contain('production');
    expect(rowsOf(out)[0]).to.contain('default/test').and.to.contain('BackupRunning 15s').and.to.contain('1 in 4s');
  });

  it('says that moco-rollout does not talk to MySQL only if the controller publishes that', async () => {
    const talksNot = 'moco-rollout does not talk to MySQL';
    expect((await cluster.run('report', '--fleet')).out).not.to.contain(talksNot);
    cluster.lease({ featureGates: { ReplicationFacts: false } });
    expect((await cluster.run('report', '--fleet')).out).to.contain(talksNot);
    cluster.lease({ featureGates: { ReplicationFacts: true } });
    expect((await cluster.run('report', '--fleet')).out).not.to.contain(talksNot);
  });

  it('shows a cluster without any rollout, and names what may not be read', async () => {
    cluster.server.remove(rolloutKind, 'test');
    cluster.fault = (request) => (request.path.startsWith(sequencesPath) ? forbidden(request) : null);
    const { status, out, err } = await cluster.run('report', '--fleet', '-n', 'default', '--since=1h');
    expect([status, err]).to.deep.equal([0, 'warning: you may not read MySQLRolloutSequences: the page lacks them\n']);
    expect(out).to.contain('Rollouts of namespace default').and.to.contain('No hold has been recorded.');
  });
});
