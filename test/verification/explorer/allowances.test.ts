import { expect } from 'chai';
import { type Allowance, allowances } from './allowances.ts';
import { Exploration } from './explore.ts';
import { progressOf } from './progress.ts';
import { tell } from './story.ts';
import { worldOf } from './world.ts';

// Where the explorer finds nothing of that kind any more, the entry has to go.

/** An invariant that nothing in these worlds breaks, where only progress is looked for. */
const none = 'I8';

const restingPlaces = new Map<string, ReadonlySet<string>>();

function explored({ faults, families, finds }: Allowance): Exploration {
  const world = worldOf(3, { detail: 'coarse', badRevision: false, faults, families: new Set(families) });
  return new Exploration(world, { wanted: typeof finds === 'string' ? finds : none });
}

/** Where rollouts wait for ever. */
function stuckWith(allowance: Allowance): ReadonlySet<string> {
  const name = `${allowance.families.join()} ${allowance.faults}`;
  const known = restingPlaces.get(name);
  if (known !== undefined) return known;
  const exploration = explored(allowance);
  exploration.run();
  const stuck = [...progressOf(exploration).sinks.keys()].filter((sink) => sink.startsWith('stuck '));
  const holds = new Set(stuck.map((sink) => sink.split(' ')[1] ?? ''));
  restingPlaces.set(name, holds);
  return holds;
}

/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 600_000;

describe('the core still', () => {
  for (const allowance of allowances) {
    const { finds, what, families } = allowance;
    const where = families.length === 0 ? 'in every world' : `with ${families.join(' and ')}`;
    it(`${what}: ${typeof finds === 'string' ? finds : finds.stuckWith} ${where}`, () => {
      if (typeof finds === 'object') {
        expect([...stuckWith(allowance)]).to.include(finds.stuckWith);
        return;
      }
      const { counterexample } = explored(allowance).run();
      expect(counterexample?.invariant).to.equal(finds);
      if (counterexample !== null)
        console.log(
          tell(counterexample)
            .map((line) => `      ${line}`)
            .join('\n'),
        );
    });
  }
}).timeout(patienceMilliseconds);
