import { expect } from 'chai';
import { progressOf } from './progress.ts';
import { changes, tell } from './story.ts';
import { measured, summaryOf } from './summary.ts';
import { type Family, worldOf } from './world.ts';

// The worlds in which a failover needs what a replica has received, and those in which every agent is dead, to their end.

/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 600_000;

describe('a rollout beside failovers', () => {
  for (const family of ['relay-log', 'agents'] as const) {
    it(`keeps the invariants and makes progress with one fault and ${family}`, () => {
      const families: ReadonlySet<Family> = new Set([family]);
      const world = worldOf(3, { detail: 'coarse', badRevision: false, faults: 1, families });
      const result = measured(world, {});
      console.log(`      ${summaryOf(world, result)}`);
      const { counterexample } = result.findings;
      expect(counterexample === null ? [] : tell(counterexample)).to.deep.equal([]);
      const { cycle, stuck, sinks } = progressOf(result.exploration);
      const path = cycle ?? stuck?.path ?? [];
      expect(path.slice(1).map((cells, at) => changes(path[at] as (typeof path)[number], cells))).to.deep.equal([]);
      expect(sinks.get('goal')).to.be.greaterThan(0);
    });
  }
}).timeout(patienceMilliseconds);
