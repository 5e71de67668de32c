import { expect } from 'chai';
import { mistakes } from '../../hack/explorer/broken.ts';
import { Exploration } from '../../hack/explorer/explore.ts';
import { tell } from '../../hack/explorer/story.ts';

describe('the explorer finds a controller that', () => {
  for (const [mistake, { broken, world }] of Object.entries(mistakes)) {
    it(mistake, () => {
      const { counterexample, states } = new Exploration(world, broken).run({ states: 300_000 });
      expect(counterexample?.invariant).to.equal(broken.wanted);
      if (counterexample === null) return;
      const story = tell(counterexample);
      console.log(`      ${story.at(-1)}, after ${states} states and in ${story.length - 1} moves`);
    });
  }
});
