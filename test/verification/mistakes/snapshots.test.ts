import { expect } from 'chai';
import * as fc from 'fast-check';
import { anyPolicy, plausibleSnapshot } from '../../core/arbitrary-snapshot.ts';
import { violations } from '../../core/invariants.ts';
import { mistakes } from './catalogue.ts';

/** States that nobody has written down; the rarest mistake shows in one of some thousands. */
const states = { seed: 1, numRuns: 12_000 };

describe('mistakes in single decisions', function mistaken() {
  this.timeout(600_000);

  const drawn = fc.sample(fc.tuple(plausibleSnapshot, anyPolicy), states);
  for (const [name, { decide, snapshots, wrong }] of Object.entries(mistakes)) {
    if (snapshots === undefined || decide === undefined) continue;
    it(`finds a controller that ${name}: ${wrong}`, () => {
      const at = drawn.findIndex(([snapshot, policy]) =>
        violations(snapshot, policy, decide(snapshot, policy)).some((one) => snapshots.test(one)),
      );
      expect(at, 'the state that shows it').to.be.at.least(0);
      console.log(`      in state ${at + 1}`);
    });
  }
});
