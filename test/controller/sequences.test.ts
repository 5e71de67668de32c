import { expect } from 'chai';
import { sequenceKind } from '../../src/api/rollout-sequence.ts';
import { Bench, begin } from './bench.ts';

const forbidden = { why: 'Forbidden', message: 'the ServiceAccount cannot list them', isIntended: false } as const;

describe('without the right to read MySQLRolloutSequences', () => {
  it('no rollout begins, and begins once they can be read', async () => {
    const [bench, program] = begin();
    program.cache.setUnavailable(sequenceKind.kind, forbidden);
    await program.work();
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'SequencesUnreadable',
      message: `the controller cannot read MySQLRolloutSequences: ${forbidden.message}`,
    });
    program.cache.setUnavailable(sequenceKind.kind, null);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('a rollout that has begun goes on', async () => {
    const bench = new Bench();
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    bench.replace(2);
    const next = bench.start();
    next.cache.setUnavailable(sequenceKind.kind, forbidden);
    await next.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
  });

  it('no rollout begins either after minutes without an answer', async () => {
    const [bench, program] = begin();
    program.cache.setUnavailable(sequenceKind.kind, { ...forbidden, why: 'Unanswered', message: 'no answer' });
    await program.work();
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain('no answer');
  });

  const without = {
    'there is no such kind': { ...forbidden, why: 'NotFound' },
    'the controller is not meant to read them': { ...forbidden, isIntended: true },
  } as const;
  for (const [reason, unavailable] of Object.entries(without)) {
    it(`rollouts begin if ${reason}`, async () => {
      const [bench, program] = begin();
      program.cache.setUnavailable(sequenceKind.kind, unavailable);
      await program.work();
      expect(bench.steps).to.deep.equal(['evict 2']);
    });
  }
});
