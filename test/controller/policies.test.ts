import { expect } from 'chai';
import { policyKind, projectPolicy } from '../../src/api/rollout-policy.ts';
import { Bench, begin, withPolicy } from './bench.ts';

describe('a MySQLRolloutPolicy', () => {
  it('is read live before a disruption: a pause takes effect at once', async () => {
    const [bench, program] = begin();
    withPolicy(bench, program, { settings: { paused: false } });
    bench.server.change(policyKind, 'all', { spec: { settings: { paused: true } } });
    await program.work();
    expect(bench.steps).to.deep.equal([]);
  });

  it('does not count if it was deleted before the live read', async () => {
    const [bench, program] = begin();
    withPolicy(bench, program, { settings: { paused: false } });
    bench.server.remove(policyKind, 'all');
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('that applies only since the live read is read by the next pass', async () => {
    const [bench, program] = begin();
    withPolicy(bench, program, { priority: 2, settings: { maxUnavailable: 1 } });
    withPolicy(bench, program, { settings: { maxUnavailable: 1 } }, 'next');
    bench.server.remove(policyKind, 'all');
    expect(await program.turn())
      .to.have.property('requeueAfterMilliseconds')
      .that.is.at.most(1000);
    expect(bench.steps).to.deep.equal([]);
    program.cache.policies.remove('', 'all');
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('costs a confirmation one request if it decides a setting, and none otherwise', async () => {
    const reads = async (policies: number): Promise<number> => {
      const [bench, program] = begin();
      withPolicy(bench, program, { settings: { maxUnavailable: 1, partition: 0 }, enforced: { paused: false } });
      for (let number = 1; number < policies; number += 1) {
        const selector = number % 2 === 0 ? { matchLabels: { team: String(number) } } : {};
        const settings = { maxUnavailable: 2, partition: 1 };
        withPolicy(bench, program, { priority: -number, selector, settings }, `other-${number}`);
      }
      await program.turn();
      expect(bench.steps).to.deep.equal(['evict 2']);
      return bench.server.reads.length;
    };
    const recreatable = 9;
    expect(await reads(1)).to.equal(8 + recreatable);
    expect(await reads(50)).to.equal(8 + recreatable);
  });
});

describe('a freeze', () => {
  const frozen = async () => {
    const [bench, program] = begin();
    withPolicy(bench, program, freeze, 'freeze');
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    return { bench, program };
  };

  it('that is deleted and created again within a second lets no member be replaced', async () => {
    const { bench, program } = await frozen();
    bench.server.remove(policyKind, 'freeze');
    program.cache.policies.remove('', 'freeze');
    await program.turn();
    await program.turn();
    withPolicy(bench, program, freeze, 'freeze');
    await program.reportAll();
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'Paused']);
  });

  it('ends half a minute after it was deleted, for a process that starts later as well', async () => {
    const { bench } = await frozen();
    bench.server.remove(policyKind, 'freeze');
    const later = bench.start();
    await later.workAfter(1000);
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'PolicyGone']);
    await later.workAfter(29_000);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('ends at once when a person sets it to false', async () => {
    const { bench, program } = await frozen();
    const raw = bench.server.change(policyKind, 'freeze', { spec: { enforced: { paused: false } } });
    program.cache.policies.put(projectPolicy(raw));
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  const freeze = { priority: 1000, enforced: { paused: true } };

  it('leaves every cluster at the strategy that a policy sets, and disrupts nothing', async () => {
    const [bench, program] = begin();
    withPolicy(bench, program, { priority: -1, settings: { strategy: 'Partition' } }, 'instead-of-the-flag');
    withPolicy(bench, program, { settings: { strategy: 'OnDelete' } }, 'production');
    withPolicy(bench, program, freeze, 'freeze');
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect([bench.status.strategy, bench.status.hold?.rule]).to.deep.equal(['OnDelete', 'Paused']);
    bench.server.remove(policyKind, 'freeze');
    program.cache.policies.remove('', 'freeze');
    await program.work();
    await program.workAfter(30_000);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('holds the release until it ends, although the feature gate was turned off', async () => {
    const [bench, program] = begin({ mode: 'MOCO' });
    withPolicy(bench, program, freeze, 'freeze');
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect([bench.status.strategy, bench.status.hold?.rule]).to.deep.equal(['OnDelete', 'Paused']);
    bench.server.remove(policyKind, 'freeze');
    program.cache.policies.remove('', 'freeze');
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    await program.workAfter(30_000);
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
  });

  it('holds a first adoption, and reports that MOCO replaces the pods meanwhile', async () => {
    const bench = new Bench();
    bench.atPartition(3);
    const program = bench.start();
    withPolicy(bench, program, freeze, 'freeze');
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect([bench.status.strategy, bench.status.hold?.rule]).to.deep.equal(['MOCO', 'Paused']);
    const condition = bench.status.conditions?.find(({ type }) => type === 'PolicyInForce');
    expect(condition).to.include({ status: 'False', reason: 'AwaitingAdoption' });
  });

  it('lets a StatefulSet be adopted again that MOCO re-created after an adoption', async () => {
    const [bench, program] = begin();
    withPolicy(bench, program, freeze, 'freeze');
    await program.work();
    bench.atPartition(3);
    await program.work();
    expect(bench.steps).to.deep.equal(['setStrategy']);
    expect(bench.status.strategy).to.equal('OnDelete');
  });
});
