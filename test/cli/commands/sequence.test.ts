import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { type FakeCluster, notFound, sequencesPath, useFakeCluster } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';
import { addClusters, addSequence, type Doing, production } from '../staged-objects.ts';

const many = (count: number, does: Doing): readonly Doing[] => Array.from({ length: count }, () => does);
const terminal = (columns: number, rows: number, colour = false) => ({ terminal: () => ({ columns, rows, colour }) });

describe('sequence', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
    addSequence(cluster, 'production', production);
  });

  /** Canaries are complete and soak; the others wait. */
  function soaking(): void {
    addClusters(cluster, 'canary', many(4, 'complete'));
    addClusters(cluster, 'most', many(300, 'waiting'));
    addClusters(cluster, 'rest', [...many(20, 'waiting'), 'paused', 'unknown']);
  }

  function rolling(): void {
    addClusters(cluster, 'canary', many(4, 'soaked'));
    addClusters(cluster, 'most', [
      ...many(160, 'complete'),
      ...many(12, 'rolling'),
      'failing',
      ...many(120, 'waiting'),
      'paused',
    ]);
  }

  it('lists the sequences', async () => {
    addSequence(cluster, 'development', {
      selector: { matchLabels: { env: 'development' } },
      stages: [{ name: 'all' }],
    });
    soaking();
    const { out } = await cluster.run('sequence');
    const wide = await cluster.run('sequence', '-o', 'wide');
    expectGolden('sequence-list.txt', `${out}\n${wide.out}`);
  });

  it('shows a row for each stage, and a sign for each cluster', async () => {
    soaking();
    expectGolden('sequence-soaking.txt', (await cluster.run('sequence', 'production')).out);
  });

  it('names the clusters that roll, fail or are held, in every width and with colours', async () => {
    rolling();
    const run = async (columns: number, colour = false): Promise<string> =>
      (await cluster.runOn(terminal(columns, 40, colour), 'sequence', 'production')).out;
    const wide = await run(120);
    expectGolden('sequence-rolling.txt', `${wide}\n${await run(60)}`);
    expectGolden('sequence-rolling-colour.txt', await run(120, true));
  });

  it('says that a stage waits, and for what, while all of its clusters are frozen', async () => {
    addClusters(cluster, 'canary', many(4, 'paused'));
    const { out } = await cluster.run('sequence', 'production');
    expect(out)
      .to.match(/ canary +Waiting +0\/4 +0 of /)
      .and.to.contain('held     Paused 4');
    expect(out).not.to.match(/ canary +Rolling/);
  });

  it('reports what is wrong with a sequence', async () => {
    addSequence(cluster, 'other', { stages: [{ name: 'all' }] });
    addSequence(cluster, 'unreadable', { stages: [] });
    addClusters(cluster, 'canary', ['waiting']);
    const lines = (await cluster.run('sequence')).out.split('\n');
    expect(lines.find((line) => line.startsWith('production'))).to.contain('SequenceConflict: 1 of the clusters');
    expect(lines.find((line) => line.startsWith('unreadable'))).to.contain('SequenceInvalid: ');
  });

  it('prints objects as kubectl does', async () => {
    const run = async (...argv: readonly string[]) => (await cluster.run('sequence', ...argv)).out;
    expect(await run('-o', 'name')).to.equal('mysqlrolloutsequence.moco-rollout.io/production\n');
    expect(await run('-o', 'yaml'))
      .to.contain('kind: List')
      .and.to.contain('kind: MySQLRolloutSequence');
    expect(await run('production', '-o', 'json'))
      .to.contain('"name": "production"')
      .and.not.to.contain('manager');
  });

  it('prints one sentence for what it cannot show', async () => {
    const said = async (...argv: readonly string[]) => {
      const { status, err, out } = await cluster.run('sequence', ...argv);
      return [status, out, err];
    };
    expect(await said('prodution')).to.deep.equal([
      1,
      '',
      'error: mysqlrolloutsequences.moco-rollout.io "prodution" not found (did you mean production?)\n',
    ]);
    cluster.clusterScoped[sequencesPath] = { items: [] };
    expect(await said()).to.deep.equal([0, '', 'No MySQLRolloutSequences found\n']);
    cluster.fault = ({ path }) => (path.startsWith(sequencesPath) ? notFound() : null);
    expect((await said())[2]).to.match(/no kind MySQLRolloutSequence on .*: is moco-rollout installed\?/);
  });

  describe('--watch', () => {
    const watched = (columns: number | null, rows: number, ...argv: readonly string[]) =>
      cluster.watch(columns === null ? null : { columns, rows, colour: false }, 'sequence', ...argv, '--watch');

    it('fits 1,000 clusters into the rows of a terminal', async () => {
      addClusters(cluster, 'canary', many(10, 'soaked'));
      addClusters(cluster, 'most', [...many(400, 'complete'), ...many(30, 'rolling'), ...many(370, 'waiting')]);
      addClusters(cluster, 'rest', [...many(189, 'waiting'), 'paused']);
      const { status, out } = await watched(80, 24, 'production');
      expect(status).to.equal(130);
      const rows = stripVTControlCharacters(out).replaceAll('\r', '').split('\n');
      expect(rows.length).to.be.at.most(24);
      expect(Math.max(...rows.map((row) => row.length))).to.be.at.most(80);
      expectGolden('sequence-thousand.txt', rows.join('\n'));
    });

    it('says how much is left out if there are too few rows', async () => {
      soaking();
      expect((await watched(80, 6, 'production')).out).to.match(/… \d+ more lines/);
    });

    it('writes a line for each stage outside of a terminal', async () => {
      rolling();
      expectGolden('sequence-log.txt', (await watched(null, 0, 'production')).out);
    });
  });
});
