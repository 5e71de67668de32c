import { expect } from 'chai';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { sequenceKind } from '../../src/api/rollout-sequence.ts';
import { jobs } from '../../src/kube/resource.ts';
import { atWork, Bench, begin, withPolicy } from './bench.ts';

const forbidden = { why: 'Forbidden', message: 'the ServiceAccount may not list them', isIntended: false } as const;

/** Kinds that may hold any cluster, the hold, and what it says beside the words of the API server. */
const kinds = [
  [policyKind, 'SettingsInvalid', 'cannot read MySQLRolloutPolicies'],
  [sequenceKind, 'SequencesUnreadable', 'the controller cannot read MySQLRolloutSequences: '],
] as const;

for (const [{ kind }, rule, words] of kinds) {
  describe(`without the right to read ${kind}s`, () => {
    it('no rollout begins, since any of them may hold it, and begins once they can be read', async () => {
      const [bench, program] = begin();
      program.cache.setUnavailable(kind, forbidden);
      await program.reportAll();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.hold?.rule).to.equal(rule);
      expect(bench.status.hold?.message).to.contain(words).and.contain(forbidden.message);
      program.cache.setUnavailable(kind, null);
      await program.work();
      expect(bench.steps).to.deep.equal(['evict 2']);
    });

    it('no rollout begins either after minutes without an answer', async () => {
      const [bench, program] = begin();
      program.cache.setUnavailable(kind, { ...forbidden, why: 'Unanswered', message: 'no answer' });
      await program.reportAll();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.hold?.message).to.contain('no answer');
    });

    for (const [reason, unavailable] of [
      ['there is no such kind', { ...forbidden, why: 'NotFound' }],
      ['the controller is not meant to read them', { ...forbidden, isIntended: true }],
    ] as const) {
      it(`rollouts begin if ${reason}`, async () => {
        const [bench, program] = begin();
        program.cache.setUnavailable(kind, unavailable);
        await program.work();
        expect(bench.steps).to.deep.equal(['evict 2']);
      });
    }
  });
}

describe('a right that is lost', () => {
  it('to read policies holds the rollouts that one was in force for: the flags may differ', async () => {
    const bench = new Bench();
    const first = bench.start();
    withPolicy(bench, first, { settings: { paused: true } });
    await first.work();
    expect(bench.status.settings?.paused).to.deep.equal({ value: true, source: 'MySQLRolloutPolicy/all' });
    const second = bench.start();
    second.cache.setUnavailable(policyKind.kind, { ...forbidden, isIntended: true });
    await second.work();
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'SettingsInvalid']);
    expect(bench.status.hold?.message).to.contain('a MySQLRolloutPolicy was in force');
  });

  it('to read sequences holds no rollout that has begun', async () => {
    const [bench] = await atWork();
    bench.replace(2);
    const next = bench.start();
    next.cache.setUnavailable(sequenceKind.kind, forbidden);
    await next.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
  });

  it('to read Jobs holds the clusters with a backup policy, and no other', async () => {
    const bench = new Bench();
    bench.changeCluster({ spec: { backupPolicyName: 'daily' } });
    const program = bench.start();
    program.cache.setUnavailable(jobs.kind, forbidden);
    await program.work();
    expect([bench.status.hold?.rule, bench.steps]).to.deep.equal(['BackupsUnreadable', []]);
    expect(bench.status.hold?.message).to.contain(forbidden.message);
    program.cache.setUnavailable(jobs.kind, null);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    const [other, without] = begin();
    without.cache.setUnavailable(jobs.kind, forbidden);
    await without.work();
    expect(other.steps).to.deep.equal(['evict 2']);
  });
});
