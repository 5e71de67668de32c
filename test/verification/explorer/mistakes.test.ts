import { expect } from 'chai';
import { mistakes } from '../mistakes/catalogue.ts';
import type { Found, Mistake } from '../mistakes/mistake.ts';
import { Exploration } from './explore.ts';
import { progressOf } from './progress.ts';
import { isSoaked } from './soaked.ts';
import { tell } from './story.ts';

const mostStates = 3_000_000;

/** What the explorer says about a controller with that mistake, in one line of its story. */
function explored({ decide, explorer }: Mistake, folded: boolean): readonly [Found | 'nothing', string] {
  if (explorer === undefined) throw new Error('expected a mistake that the explorer looks for, got another one');
  const { finds, world, breaks } = explorer;
  const wanted = finds === 'cycle' || finds === 'stuck' ? 'I2' : finds;
  const exploration = new Exploration({ ...world, folded }, { ...breaks, ...(decide && { decide }), wanted });
  const { counterexample, states } = exploration.run({ states: mostStates });
  if (counterexample !== null) {
    const story = tell(counterexample);
    return [counterexample.invariant, `${story.at(-1)}, after ${states} states and in ${story.length - 1} moves`];
  }
  const { cycle, stuck } = progressOf(exploration);
  return [cycle !== null ? 'cycle' : stuck !== null ? 'stuck' : 'nothing', `${states} states`];
}

/** `make soak` explores without folding, too. That folding loses no state: folding.test.ts. */
const foldings = isSoaked ? [true, false] : [true];

for (const folded of foldings) {
  describe(`the explorer, ${folded ? 'with' : 'without'} folding, finds a controller that`, () => {
    for (const [name, mistake] of Object.entries(mistakes)) {
      if (mistake.explorer === undefined) continue;
      it(`${name}: ${mistake.wrong}`, () => {
        const [found, story] = explored(mistake, folded);
        console.log(`      ${story}`);
        expect(found).to.equal(mistake.explorer?.finds);
      });
    }
  });
}
