import { expect } from 'chai';
import { policyKind, projectPolicy } from '../../src/controller/policy-resource.ts';
import { Bench, type Process } from './bench.ts';
import type { Raw } from './object-server.ts';

/** A policy, for every cluster unless its selector says otherwise, in the API server and in the cache. */
function withPolicy(bench: Bench, program: Process, spec: object, name = 'all'): Raw {
  const raw = bench.server.create(policyKind, { metadata: { name, namespace: undefined }, spec });
  program.cache.policies.put(projectPolicy(raw));
  return raw;
}

describe('a MySQLRolloutPolicy', () => {
  it('is read again before anything is taken: one that pauses everything does so at once', async () => {
    const bench = new Bench();
    const program = bench.start();
    withPolicy(bench, program, { paused: false });
    bench.server.change(policyKind, 'all', { spec: { paused: true } });
    await program.work();
    expect(bench.steps).to.deep.equal([]);
  });

  it('that is gone by then counts no more', async () => {
    const bench = new Bench();
    const program = bench.start();
    withPolicy(bench, program, { paused: false });
    bench.server.remove(policyKind, 'all');
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('that is in force by then in the place of another one has not been read, and is by the next pass', async () => {
    const bench = new Bench();
    const program = bench.start();
    withPolicy(bench, program, { weight: 2 });
    withPolicy(bench, program, {}, 'next');
    bench.server.remove(policyKind, 'all');
    program.sync();
    expect(await program.pass())
      .to.have.property('requeueAfterMilliseconds')
      .that.is.at.most(1000);
    expect(bench.steps).to.deep.equal([]);
    program.cache.policies.remove('', 'all');
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is one request of a confirmation, as if there were one policy alone', async () => {
    const reads = async (policies: number): Promise<number> => {
      const bench = new Bench();
      const program = bench.start();
      withPolicy(bench, program, {});
      for (let number = 1; number < policies; number += 1) {
        withPolicy(bench, program, { selector: { matchLabels: { team: String(number) } } }, `team-${number}`);
      }
      program.sync();
      await program.pass();
      expect(bench.steps).to.deep.equal(['evict 2']);
      return bench.server.reads.length;
    };
    expect(await reads(1)).to.equal(9);
    expect(await reads(50)).to.equal(9);
  });

  it('that was in force holds everything once none may be read: the flags may say the contrary', async () => {
    const bench = new Bench();
    const first = bench.start();
    withPolicy(bench, first, { paused: true });
    await first.work();
    expect(bench.status.effectivePolicy?.['paused']).to.deep.equal({
      value: 'true',
      source: 'MySQLRolloutPolicy/all',
    });
    const second = bench.start();
    second.cache.unavailable.set(policyKind.kind, 'Forbidden');
    await second.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('PolicyUnknown');
    expect(bench.status.hold?.message).to.contain('MySQLRolloutPolicies');
  });
});
