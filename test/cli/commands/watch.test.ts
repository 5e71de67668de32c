import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import type { Terminal } from '../../../src/cli/host.ts';
import { FakeCluster } from '../fake-cluster.ts';
import { phases } from '../phases.ts';

// What changes while it is watched: test/cluster/cli-watch.test.ts.
describe('status --watch', () => {
  let cluster: FakeCluster;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
    await phases['awaiting-switchover']?.(cluster);
  });

  afterEach(() => cluster.close());

  const watched = (terminal: Terminal | null, ...argv: readonly string[]) =>
    cluster.watch(terminal, 'status', ...argv, '--watch');

  it('draws what status shows, and ends when it is interrupted', async () => {
    const { status, out, err } = await watched({ columns: 200, rows: 30, colour: false }, 'test');
    expect([status, err]).to.deep.equal([130, '']);
    expect(stripVTControlCharacters(out).replaceAll('\r', '')).to.equal((await cluster.run('status', 'test')).out);
  });

  it('writes a line for each cluster elsewhere', async () => {
    const { status, out } = await watched(null);
    expect(status).to.equal(130);
    expect(out).to.match(/^default\/test {2}Progressing {2}2\/3 {2}AwaitingSwitchover: [^\n]+\n$/);
  });

  it('counts what is held above the list', async () => {
    const { out } = await watched({ columns: 120, rows: 30, colour: false }, '--held');
    expect(stripVTControlCharacters(out)).to.match(/HOLD +CLUSTERS[^]*AwaitingSwitchover +1 [^]*NAME +PHASE/);
  });
});
