import { expect } from 'chai';
import { projectSequence } from '../../src/api/rollout-sequence.ts';
import { withoutRollout } from '../../src/controller/fleet/fleet-standing.ts';
import type { CheckReading } from '../../src/core/on-demand-facts.ts';
import { Bench, type Process, passes } from './bench.ts';

const checks = [{ name: 'errant', query: 'errant{namespace="$namespace", name="$name"} > 0' }];
const failing: CheckReading = {
  kind: 'failing',
  series: { labels: { __name__: 'errant', name: 'test' }, value: '1', others: 0 },
};
const gauge = 'moco_rollout_check_failing{namespace="default",name="test",check="errant"} 1';

function withChecks(): Bench {
  const bench = new Bench();
  bench.setting({ checks });
  return bench;
}

const metrics = ({ registry }: Process): Promise<string> => registry.metrics();

describe('the controller with checks', () => {
  it('asks them once for each step', async () => {
    const bench = withChecks();
    const program = await bench.started();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.prometheus.asked).to.deep.equal(['errant']);
    bench.replace(2);
    await program.work();
    bench.replace(1);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1', 'demote 0']);
    expect(bench.prometheus.asked).to.have.length(3);
    expect(await metrics(program)).to.contain('moco_rollout_check_requests_total{result="Passing"} 3');
    expect(program.events.map(({ reason }) => reason)).to.not.include.members(['CheckFailing', 'CheckUnavailable']);
    expect(program.log.lines.map(({ fields }) => (fields as { rule?: string }).rule)).to.not.include(
      'CheckUnavailable',
    );
  });

  it('waits while one fails, asks every half minute, reports it once, and continues', async () => {
    const bench = withChecks();
    bench.prometheus.says('errant', failing);
    const program = bench.start();
    await passes(bench, program, 95);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.prometheus.asked).to.have.length(4);
    expect(bench.status.hold).to.include({
      rule: 'CheckFailing',
      message: 'the check errant fails: errant{name="test"} is 1',
    });
    expect(program.events.filter(({ reason }) => reason === 'CheckFailing')).to.have.length(1);
    expect(await metrics(program)).to.contain(gauge);
    bench.prometheus.says('errant', { kind: 'passing' });
    await passes(bench, program, 35);
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(await metrics(program)).to.not.contain(gauge);
  });

  it('replaces no member because of an answer to another query', async () => {
    const bench = withChecks();
    const program = bench.start();
    await program.turn();
    bench.prometheus.says('errant', failing);
    bench.setting({ checks: [{ name: 'errant', query: 'another' }] });
    await passes(bench, program, 3);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('CheckFailing');
  });

  it('shows the names of the checks in the settings, and not their queries', async () => {
    const bench = withChecks();
    await bench.start().work();
    expect(bench.status.settings?.checks).to.deep.equal({ value: [{ name: 'errant' }], source: 'MySQLRollout' });
  });
});

describe('the checks of a canary', () => {
  const canary = { matchLabels: { tier: 'canary' } };
  const spec = { stages: [{ name: 'canary', selector: canary, soakDuration: '10m' }, { name: 'rest' }] };

  /** An updated canary, and a cluster of the next stage that has not begun. */
  function withCanary(): { readonly bench: Bench; readonly program: Process } {
    const bench = new Bench({ stale: false });
    bench.setting({ checks });
    bench.changeCluster({ metadata: { labels: { tier: 'canary' } } });
    const program = bench.start();
    const { stages } = program.fleet;
    const metadata = { name: 'all', uid: 'u', resourceVersion: '1', generation: 1 };
    stages.noteSequence('all', projectSequence({ metadata, spec }));
    stages.noteCluster('default/other', { labels: {}, offline: false, updateRevision: '1' });
    const waiting = { revision: '1', waitingSince: bench.world.wall(), wantsTurn: true };
    stages.noteRollout('default/other', { ...withoutRollout, ...waiting });
    return { bench, program };
  }
  const since = ({ status }: Bench): string | undefined => status.completeSince;

  it('are asked every half minute while the next stage waits, and its soak begins once they have passed', async () => {
    const { bench, program } = withCanary();
    await passes(bench, program, 46, 2);
    expect(bench.prometheus.asked).to.have.length(4);
    expect(since(bench)).to.not.equal(undefined);
    expect(bench.status.hold).to.equal(undefined);
  });

  it('restart the soak if one fails, and report it', async () => {
    const { bench, program } = withCanary();
    await passes(bench, program, 10, 4);
    const first = since(bench);
    bench.prometheus.says('errant', failing);
    await passes(bench, program, 10, 4);
    expect(since(bench)).to.equal(undefined);
    expect(bench.status).to.deep.include({ phase: 'UpToDate', updatedReplicas: 3 });
    expect(bench.status.hold?.message).to.equal('the check errant fails: errant{name="test"} is 1');
    expect(program.events.map(({ reason }) => reason)).to.include('CheckFailing');
    expect(await metrics(program)).to.contain(gauge);
    bench.prometheus.says('errant', { kind: 'passing' });
    await passes(bench, program, 10, 4);
    expect(Date.parse(since(bench) ?? '')).to.be.greaterThan(Date.parse(first ?? ''));
    expect(bench.status.hold).to.equal(undefined);
  });
});
