import { expect } from 'chai';
import { mostHeldFor } from '../../../src/api/rollout-progress.ts';
import { type RolloutStatus } from '../../../src/api/rollout-status.ts';
import { heldForOf } from '../../../src/controller/status/rollout-history.ts';
import { begin } from '../bench.ts';
import { rollOut } from '../whole-rollout.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 6, 1, 12, 0, seconds)).toISOString();
const hold = (rule: NonNullable<RolloutStatus['hold']>['rule'], since: number) => ({
  rule,
  message: '',
  since: at(since),
});

describe('how long rules held a rollout', () => {
  const startedAt = at(0);

  it('is counted when a hold ends, for each rule', () => {
    const one = heldForOf({ startedAt }, hold('Paused', 10), undefined, at(25));
    expect(one).to.deep.equal([{ rule: 'Paused', seconds: 15 }]);
    const rollout = { startedAt, ...(one && { heldFor: one }) };
    expect(heldForOf(rollout, hold('BackupRunning', 30), hold('Paused', 70), at(70))).to.deep.equal([
      { rule: 'BackupRunning', seconds: 40 },
      { rule: 'Paused', seconds: 15 },
    ]);
    expect(heldForOf(rollout, hold('Paused', 70), undefined, at(75))).to.deep.equal([{ rule: 'Paused', seconds: 20 }]);
  });

  it('is counted neither while the hold lasts, nor from before the rollout', () => {
    expect(heldForOf({ startedAt }, hold('Paused', 10), hold('Paused', 10), at(25))).to.equal(undefined);
    expect(heldForOf({ startedAt: at(20) }, hold('Paused', 10), undefined, at(25))).to.deep.equal([
      { rule: 'Paused', seconds: 5 },
    ]);
    expect(heldForOf({ startedAt }, hold('Paused', 10), undefined, at(5))).to.equal(undefined);
  });

  it('is kept of the rules that held it longest', () => {
    const heldFor = Array.from({ length: mostHeldFor }, (_, index) => ({ rule: `Rule${index}`, seconds: 100 + index }));
    const kept = heldForOf({ startedAt, heldFor }, hold('Paused', 0), undefined, at(101)) ?? [];
    expect(kept).to.have.length(mostHeldFor);
    expect(kept.map(({ rule }) => rule))
      .to.include('Paused')
      .and.not.to.include('Rule0');
  });

  it('is in the history, with the time that switchovers took', async () => {
    const [bench, program] = begin();
    bench.changeRollout({ spec: { paused: true } });
    await program.work();
    bench.world.freeze(120_000);
    bench.changeRollout({ spec: { paused: false } });
    await rollOut(bench, program);
    const [entry] = bench.status.history ?? [];
    expect(entry?.heldFor?.find(({ rule }) => rule === 'Paused')?.seconds).to.be.within(115, 135);
    expect(entry?.switchoverSeconds).to.be.a('number');
  });
});
