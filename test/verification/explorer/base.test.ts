import { expect } from 'chai';
import { progressOf } from './progress.ts';
import { changes, tell } from './story.ts';
import { measured, summaryOf } from './summary.ts';
import { type Family, families, type World, worldOf } from './world.ts';

let processorSeconds = 0;

/** Explores a world to its end; says what it found, and a counterexample as a story. */
function explore(world: World) {
  const result = measured(world);
  processorSeconds += result.seconds;
  console.log(`      ${summaryOf(world, result)}`);
  const { counterexample, finished } = result.findings;
  expect(counterexample === null ? [] : tell(counterexample)).to.deep.equal([]);
  expect(finished).to.equal(true);
  return result;
}

function advances(world: World): ReadonlyMap<string, number> {
  const { exploration } = explore(world);
  const { cycle, stuck, sinks } = progressOf(exploration);
  const path = cycle ?? stuck?.path ?? [];
  expect(path.slice(1).map((cells, at) => changes(path[at] as (typeof path)[number], cells))).to.deep.equal([]);
  return sinks;
}

const reachesTheGoal = (world: World): void => {
  expect(advances(world).get('goal')).to.be.greaterThan(0);
};

const coarse = { detail: 'coarse', badRevision: false } as const;

/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 1_200_000;

describe('every reachable state', () => {
  after(() => console.log(`    ${processorSeconds.toFixed(0)} seconds of processor time in all`));

  it('of one member keeps the invariants and makes progress with any number of faults', () => {
    reachesTheGoal(worldOf(1, { badRevision: false }));
    expect(advances(worldOf(1)).get('UpdateRevisionFailing')).to.be.greaterThan(0);
  });

  it('of three members without faults keeps the invariants and makes progress, with at most one switchover', () => {
    reachesTheGoal(worldOf(3, { faults: 0, countMoves: true, badRevision: false }));
    reachesTheGoal(worldOf(3, { faults: 0, countMoves: true, badRevision: false, folded: false }));
  });

  it('of three members keeps the invariants and makes progress with any number of faults', () => {
    reachesTheGoal(worldOf(3, { badRevision: false }));
  });

  // With any number of faults: make soak.
  it('of three members keeps the invariants, and halts at a revision that never starts, with one fault', () => {
    expect(advances(worldOf(3, { faults: 1 })).get('UpdateRevisionFailing')).to.be.greaterThan(0);
  });

  it('of five members keeps the invariants and makes progress without faults, in full detail', () => {
    reachesTheGoal(worldOf(5, { faults: 0, badRevision: false }));
    advances(worldOf(5, { faults: 0 }));
  });

  it('of five members keeps the invariants and makes progress with one fault', () => {
    reachesTheGoal(worldOf(5, { ...coarse, faults: 1 }));
  });

  for (const family of families) {
    const replicas = family === 'scaling' || family === 'two-at-once' ? 5 : 3;
    const faults = family === 'template' || family === 'two-at-once' ? 0 : 1;
    it(`of ${replicas} members keeps the invariants and makes progress with ${family}`, () => {
      const chosen: ReadonlySet<Family> = new Set([family]);
      advances(worldOf(replicas, { ...coarse, faults, families: chosen }));
    });
  }
}).timeout(patienceMilliseconds);
