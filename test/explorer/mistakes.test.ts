import { expect } from 'chai';
import { dawdlers, mistakes } from '../../hack/explorer/broken.ts';
import { Exploration } from '../../hack/explorer/explore.ts';
import { progressOf } from '../../hack/explorer/progress.ts';
import { tell } from '../../hack/explorer/story.ts';
import { worldOf } from '../../hack/explorer/world.ts';

for (const folded of [true, false]) {
  describe(`the explorer, ${folded ? 'folding states' : 'state by state'}, finds a controller that`, () => {
    for (const [mistake, { broken, world }] of Object.entries(mistakes)) {
      it(mistake, () => {
        const { counterexample, states } = new Exploration({ ...world, folded }, broken).run({ states: 3_000_000 });
        expect(counterexample?.invariant).to.equal(broken.wanted);
        if (counterexample === null) return;
        const story = tell(counterexample);
        console.log(`      ${story.at(-1)}, after ${states} states and in ${story.length - 1} moves`);
      });
    }

    for (const [mistake, { decide, found }] of Object.entries(dawdlers)) {
      it(`breaks nothing and ${mistake}`, () => {
        const world = worldOf(3, { faults: 0, badRevision: false, folded });
        const exploration = new Exploration(world, { decide, wanted: 'I2' });
        expect(exploration.run().counterexample).to.equal(null);
        const { cycle, stuck } = progressOf(exploration);
        expect(cycle === null ? (stuck === null ? 'neither' : 'stuck') : 'cycle').to.equal(found);
      });
    }
  });
}
