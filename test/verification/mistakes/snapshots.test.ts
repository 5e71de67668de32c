import { expect } from 'chai';
import * as fc from 'fast-check';
import { violations } from '../../core/invariants.ts';
import { aCluster, nearAnExample, type State } from '../../core/near-examples.ts';
import { seed } from '../../support/seed.ts';
import { mistakes } from './catalogue.ts';

/** Generated states. The rarest mistake shows in one of a few thousand. */
const batches = { count: 30, states: 4_000 };
const drawn: (readonly State[])[] = [];

function batch(at: number): readonly State[] {
  const known = drawn[at];
  if (known !== undefined) return known;
  const states = fc.sample(fc.oneof(aCluster, nearAnExample), { seed: seed + at, numRuns: batches.states });
  drawn[at] = states;
  return states;
}

describe('mistakes in single decisions', () => {
  for (const [name, { decide, snapshots, wrong }] of Object.entries(mistakes)) {
    if (snapshots === undefined || decide === undefined) continue;
    it(`finds a controller that ${name}: ${wrong}`, () => {
      const shows = ([snapshot, policy]: State): boolean =>
        violations(snapshot, policy, decide(snapshot, policy)).some((one) => snapshots.test(one));
      let found = -1;
      for (let at = 0; at < batches.count && found < 0; at += 1) {
        const index = batch(at).findIndex(shows);
        if (index >= 0) found = at * batches.states + index;
      }
      expect(found, 'the state that shows it').to.be.at.least(0);
      console.log(`      in state ${found + 1}`);
    });
  }
});
