import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import type { Terminal } from '../../../src/cli/host.ts';
import { answer, status as statusOf } from '../../kube/fake-world.ts';
import { type FakeCluster, useFakeCluster } from '../fake-cluster.ts';
import { phases } from '../phases.ts';

// What changes while it is watched: test/cluster/cli-watch.test.ts.
describe('status --watch', () => {
  let cluster: FakeCluster;

  useFakeCluster(async (fresh) => {
    cluster = fresh;
    await phases['awaiting-switchover']?.(cluster);
  });

  const watched = (terminal: Terminal | null, ...argv: readonly string[]) =>
    cluster.watch(terminal, 'status', ...argv, '--watch');

  it('shows what status shows except the backup, and ends when it is interrupted', async () => {
    const { status, out, err } = await watched({ columns: 200, rows: 30, colour: false }, 'test');
    expect([status, err]).to.deep.equal([130, '']);
    const once = (await cluster.run('status', 'test')).out.replace(/^ {2}backup .*\n/m, '');
    expect(stripVTControlCharacters(out).replaceAll('\r', '')).to.equal(once);
  });

  it('wraps every sentence about a cluster, and cuts none', async () => {
    const reason = 'a reason that takes more than one line on the terminal of a person who looks at it at night';
    cluster.bench.changeRollout({
      spec: { overrides: [{ rule: 'BackupRunning', until: '2026-07-01T14:30:00Z', reason, by: 'ada' }] },
    });
    await cluster.bench.start().work();
    const { out } = await watched({ columns: 110, rows: 30, colour: false }, 'test');
    const shown = stripVTControlCharacters(out);
    expect(shown).not.to.contain('…');
    const narrow = stripVTControlCharacters((await watched({ columns: 80, rows: 40, colour: false }, 'test')).out);
    expect(narrow.match(/^ {2}moco-test-\d .*…/gm)).to.equal(null);
    expect(shown.replaceAll(/\s+/g, ' ')).to.contain(reason);
  });

  it('lists the clusters that need a person first, then those that roll out, that wait, and that are done', async () => {
    const add = (name: string, status: object): void => cluster.add(name, { replicas: 3, ...status });
    const hold = (rule: string) => ({ hold: { rule, message: '', since: '2026-07-01T12:00:00Z' } });
    add('a-done', { conditions: [{ type: 'Ready', status: 'True' }] });
    add('b-waits', hold('AwaitingFleetSlot'));
    add('c-moves', hold('UpdatedMemberNotParticipating'));
    add('d-fails', hold('UpdateRevisionFailing'));
    const { out } = await watched({ columns: 200, rows: 30, colour: false });
    const names = [...stripVTControlCharacters(out).matchAll(/^([a-z-]+) /gm)].map(([, name]) => name);
    expect(names).to.deep.equal(['d-fails', 'c-moves', 'test', 'b-waits', 'a-done']);
  });

  it('writes a line for each cluster outside of a terminal', async () => {
    const { status, out } = await watched(null);
    expect(status).to.equal(130);
    expect(out).to.match(
      /^2026-07-01T12:\d\d:\d\dZ {2}default\/test {2}Progressing {2}2\/3 {2}AwaitingSwitchover: [^\n]+\n$/,
    );
  });

  it('says once why it cannot read, and goes on when it can', async () => {
    let lists = 0;
    // The command lists once before it watches.
    cluster.fault = ({ path }) =>
      /\/mysqlrollouts\?/.test(path) && !path.includes('watch=true') && [2, 3].includes(++lists)
        ? answer(500, statusOf(500, 'InternalError', { message: 'etcdserver: leader changed' }))
        : null;
    const { out, err } = await watched(null);
    expect(lists).to.be.greaterThan(3);
    expect(err).to.match(/^warning: Failed to list or watch; retrying: [^\n]*etcdserver: leader changed[^\n]*\n$/);
    expect(out).to.contain('default/test');
  });

  it('counts what is held above the list', async () => {
    const { out } = await watched({ columns: 120, rows: 30, colour: false }, '--held');
    expect(stripVTControlCharacters(out)).to.match(/HOLD +CLUSTERS[^]*AwaitingSwitchover +1 [^]*NAME +PHASE/);
  });
});
