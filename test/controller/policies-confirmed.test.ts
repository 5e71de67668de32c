import { expect } from 'chai';
import { policyKind, projectPolicy } from '../../src/controller/policy-resource.ts';
import { Bench, type Process } from './bench.ts';
import type { Raw } from './object-server.ts';

/** A policy for every cluster, in the API server and in the cache. */
function withPolicy(bench: Bench, program: Process, spec: object): Raw {
  const raw = bench.server.create(policyKind, { metadata: { name: 'all', namespace: undefined }, spec });
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
