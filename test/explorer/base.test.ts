import { expect } from 'chai';
import { progressOf } from '../../hack/explorer/progress.ts';
import { changes, tell } from '../../hack/explorer/story.ts';
import { measured, summaryOf } from '../../hack/explorer/summary.ts';
import { type Family, type World, worldOf } from '../../hack/explorer/world.ts';

/** Explores a world to its end; says what it found, and a counterexample as a story. */
function explore(world: World, states?: number) {
  const result = measured(world, states === undefined ? {} : { states });
  console.log(`      ${summaryOf(world, result)}`);
  const { counterexample } = result.findings;
  expect(counterexample === null ? [] : tell(counterexample)).to.deep.equal([]);
  return result;
}

function advances(world: World): void {
  const { exploration, findings } = explore(world);
  expect(findings.finished).to.equal(true);
  const { cycle, stuck, sinks } = progressOf(exploration);
  const path = cycle ?? stuck?.path ?? [];
  expect(path.slice(1).map((cells, at) => changes(path[at] as (typeof path)[number], cells))).to.deep.equal([]);
  expect(sinks.get('goal')).to.be.greaterThan(0);
}

const coarse = { detail: 'coarse' } as const;

describe('in every state that can be reached', () => {
  it('one member is safe and gets on, whatever goes wrong and however often', () => {
    advances(worldOf(1));
  });

  it('three members are safe and get on without faults, with at most one switchover', () => {
    advances(worldOf(3, { faults: 0, countMoves: true }));
  });

  it('three members are safe and get on with one fault', () => {
    advances(worldOf(3, { faults: 1, ...coarse }));
  });

  it('three members are safe and get on, whatever goes wrong and however often', () => {
    advances(worldOf(3, { badRevision: false, ...coarse }));
  });

  it('five members are safe and get on without faults', () => {
    advances(worldOf(5, { faults: 0 }));
  });

  it('five members are safe with one fault, as far as this looks', () => {
    explore(worldOf(5, { faults: 1, badRevision: false, ...coarse }), 300_000);
  });

  const alone: readonly Family[] = [
    'prevent-delete',
    'partition',
    'foreign-demote',
    'partition-mode',
    'impaired',
    'errant',
  ];
  for (const family of alone) {
    it(`three members are safe with one fault and ${family}`, () => {
      explore(worldOf(3, { faults: 1, badRevision: false, families: new Set([family]), ...coarse }), 150_000);
    });
  }

  const wide: readonly Family[] = ['budget', 'template', 'user', 'late-write'];
  for (const family of wide) {
    it(`three members are safe without faults and with ${family}`, () => {
      explore(worldOf(3, { faults: 0, badRevision: false, families: new Set([family]), ...coarse }), 100_000);
    });
  }

  for (const family of ['two-at-once', 'scaling'] as const) {
    it(`five members are safe without faults and with ${family}`, () => {
      explore(worldOf(5, { faults: 0, badRevision: false, families: new Set([family]), ...coarse }), 150_000);
    });
  }
});
