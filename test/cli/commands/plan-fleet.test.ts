import { expect } from 'chai';
import { controllerRevisions } from '../../../src/kube/resource.ts';
import { revisionAfter, revisionBefore } from '../../controller/moco-objects.ts';
import { addWholeCluster, measured, type WholeCluster } from '../../controller/whole-clusters.ts';
import { type FakeCluster, forbidden, useFakeCluster } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';
import { addSequence, production } from '../staged-objects.ts';

const tiers = { canary: 2, most: 12, rest: 3 } as const;

describe('plan --fleet', () => {
  let cluster: FakeCluster;

  useFakeCluster(
    (fresh) => {
      cluster = fresh;
      addSequence(cluster, 'production', production);
    },
    { stale: false },
  );

  const add = (...clusters: readonly WholeCluster[]): void => {
    for (const one of clusters) addWholeCluster(cluster.server, one);
  };

  function addFleet(stale: boolean): void {
    for (const [tier, count] of Object.entries(tiers)) {
      for (let index = 1; index <= count; index += 1) {
        add({ name: `${tier}-${index}`, labels: { env: 'production', tier }, stale, status: measured(40) });
      }
    }
  }

  it('shows when each stage begins and ends', async () => {
    addFleet(true);
    const { status, out, err } = await cluster.run('plan', '--fleet');
    expect([status, err]).to.deep.equal([0, '']);
    expectGolden('plan-fleet.txt', out);
  });

  it('shows each cluster, as if a change had just reached the selected ones', async () => {
    addFleet(false);
    expect((await cluster.run('plan', '--fleet')).out).to.contain('nothing to do: no cluster is stale');
    const { out } = await cluster.run('plan', '--fleet', '--assume-stale', '-l', 'env=production', '-o', 'wide');
    expectGolden('plan-fleet-assumed.txt', out);
    expect(cluster.server.writes).to.deep.equal([]);
  });

  it('simulates with the limits that the controller publishes, unless others are given', async () => {
    addFleet(true);
    cluster.lease({ maxConcurrentRollouts: 1, disruptionIntervalMilliseconds: 60_000 });
    const limits = async (...argv: readonly string[]): Promise<string | undefined> =>
      /controller runs with (.*)/.exec((await cluster.run('plan', '--fleet', ...argv)).out)?.[1];
    const rest = '--verify-first-cluster=true, --max-failing-rollouts=3 and';
    expect(await limits()).to.equal(`--max-concurrent-rollouts=1, ${rest}`);
    expect(await limits('--max-concurrent-rollouts=7')).to.equal(`--max-concurrent-rollouts=7, ${rest}`);
  });

  it('counts no time for members whose update in place restarts nothing', async () => {
    const spec = { strategy: 'OnDelete', inPlace: { mode: 'IfPossible' } } as const;
    const status = { ...measured(100), strategy: 'OnDelete', updatesInPlace: true };
    add({ name: 'same', spec, status }, { name: 'other', spec, status });
    for (const hash of [revisionBefore, revisionAfter].map((name) => name.slice('moco-test-'.length))) {
      const template = { spec: { containers: [] } };
      const metadata = { name: `moco-same-${hash}`, namespace: 'default' };
      cluster.server.create(controllerRevisions, { metadata, data: { spec: { template } } });
    }
    const { out } = await cluster.run('plan', '--fleet', '-o', 'json');
    const { clusters } = JSON.parse(out) as { readonly clusters: readonly object[] };
    expect(clusters[0]).to.include({ name: 'other', seconds: 325 });
    expect(clusters[1]).to.include({ name: 'same', seconds: 0 });
  });

  it('counts windows and slots', async () => {
    const spec = { maintenanceWindows: [{ schedule: '0 1 * * *', duration: '10m', timeZone: 'Asia/Tokyo' }] };
    add({ name: 'night', spec, status: measured(100) }, { name: 'a', replicas: 1 }, { name: 'b', replicas: 1 });
    const { out } = await cluster.run('plan', '--fleet', '--max-concurrent-rollouts=1', '--disruption-interval', '1m');
    expectGolden('plan-fleet-windows.txt', out);
  });

  it('names the clusters that never begin, with the reason', async () => {
    const canary = { env: 'production', tier: 'canary' };
    const short = [{ schedule: '0 1 * * *', duration: '1m' }];
    addSequence(cluster, 'other', { selector: { matchLabels: { both: 'true' } }, stages: [{ name: 'all' }] });
    addFleet(true);
    add(
      { name: 'paused', labels: canary, spec: { paused: true } },
      { name: 'approved-by-hand', spec: { primaryUpdatePolicy: 'Manual' } },
      { name: 'no-window', spec: { maintenanceWindows: short } },
      { name: 'two-sequences', labels: { ...canary, both: 'true' } },
    );
    expectGolden('plan-fleet-stopped.txt', (await cluster.run('plan', '--fleet')).out);
    const assumed = await cluster.run('plan', '--fleet', '-l', 'env=production', '--assume=paused=false', '-o', 'json');
    const { clusters } = JSON.parse(assumed.out) as { clusters: { name: string; stopsAt: { rule: string } | null }[] };
    const stops = clusters.map(({ name, stopsAt }) => [name, stopsAt?.rule]).filter(([, rule]) => rule !== undefined);
    expect(stops[0]).to.deep.equal(['most-1', 'AwaitingEarlierStage']);
    expect(stops.find(([name]) => name === 'two-sequences')).to.deep.equal(['two-sequences', 'SequenceConflict']);
    expect(stops.map(([name]) => name)).not.to.include('paused');
  });

  it('prints data for programs', async () => {
    addFleet(true);
    const { out } = await cluster.run('plan', '--fleet', '-o', 'json');
    const shown = JSON.parse(out) as Record<string, readonly Record<string, unknown>[]>;
    expect(shown).to.include({ from: '2026-07-01T12:00:00Z', until: '2026-07-02T13:46:05Z', seconds: 92_765 });
    expect(shown).not.to.have.property('drawing');
    expect(shown['stages']?.[0]).to.deep.equal({
      sequence: 'production',
      stage: 'canary',
      clusters: 2,
      begins: '2026-07-01T12:05:00Z',
      ends: '2026-07-01T12:09:50Z',
      seconds: 290,
      stopped: 0,
      waits: [{ rule: 'AwaitingSettle', seconds: 300 }],
    });
    expect(shown['clusters']).to.have.length(17);
    expect(shown['clusters']?.[0]).to.include({ name: 'canary-1', begins: '2026-07-01T12:05:00Z', seconds: 145 });
    expect((await cluster.run('plan', '--fleet', '-o', 'yaml')).out).to.contain('stage: canary');
  });

  it('fits into a narrow terminal, with colours', async () => {
    addFleet(true);
    const run = async (columns: number, colour: boolean): Promise<string> => {
      const terminal = () => ({ columns, rows: 30, colour });
      return (await cluster.runOn({ terminal }, 'plan', '--fleet')).out;
    };
    expect(await run(100, true)).to.contain('\u001B[36m█');
    expect((await run(60, false)).split('\n').find((row) => row.includes('█'))).to.have.length.at.most(60);
    expect(await run(38, false)).not.to.contain('█');
  });

  it('names what may not be read, and continues', async () => {
    addFleet(true);
    cluster.fault = ({ path }) =>
      /poddisruptionbudgets|policies|\/jobs|namespaces\?/.test(path)
        ? forbidden({ path, method: 'GET' } as never)
        : null;
    const { status, out } = await cluster.run('plan', '--fleet');
    expect(status).to.equal(0);
    expect(out.replaceAll(/\s+/g, ' ')).to.contain(
      'left out, since you may not read them: jobs, mysqlrolloutpolicies, namespaces, poddisruptionbudgets',
    );
  });
});
