import { expect } from 'chai';
import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import { Exploration } from './explore.ts';
import { fold } from './fold.ts';
import { isSoaked, statesUnlessSoaked } from './soaked.ts';
import { changes } from './story.ts';
import { type Family, families, type World, worldOf } from './world.ts';

// Folding leaves out no state that matters: whatever is reached without it has a state that stands for it and is
// reached with it, and there everything may be done that may be done here.

const pausesBetweenSteps: ReadonlySet<Verdict['kind']> = new Set(['none', 'undemote']);

/** The first state that folding has lost, or that may do what the one that stands for it may not, as a story. */
function lost(world: Partial<World>, replicas: number, states: number): readonly string[] {
  const whole = new Exploration(worldOf(replicas, { ...world, folded: false }));
  whole.run({ states });
  const folded = new Exploration(worldOf(replicas, { ...world, folded: true }));
  // A state that it would reach later counts as lost: so the test may say too much, and never too little.
  folded.run({ states: 3 * states });
  const state = (whole.pathTo(0)[0] as c.Cells).slice();
  for (let number = 0; number < whole.table.count; number++) {
    whole.state(number, state);
    if (folded.world.badRevision && state[c.BAD] === 0) continue;
    const verdict = whole.decisions.of(state, state, state);
    const standsIn = standInOf(state, folded);
    const allowed = standsIn !== null && (mayAlso(verdict, folded, standsIn) || pausesBetweenSteps.has(verdict.kind));
    if (!allowed) {
      const path = whole.pathTo(number);
      return path.slice(1).map((cells, at) => changes(path[at] as c.Cells, cells));
    }
  }
  return [];
}

/** One that was reached, as it is with as few labels set as there is one; `null` where there is none. */
function standInOf(state: c.Cells, folded: Exploration): c.Cells | null {
  const cells = state.slice();
  fold(cells, folded.world);
  const unsettled: number[] = [];
  for (let ordinal = 0; ordinal < folded.world.replicas; ordinal++) {
    if (cells[c.SETTLED + ordinal] === 0) unsettled.push(ordinal);
  }
  for (let more = 0; more < 1 << unsettled.length; more++) {
    unsettled.forEach((ordinal, at) => {
      cells[c.SETTLED + ordinal] = (more >> at) & 1;
    });
    if (folded.numberOf(cells) >= 0) return cells;
  }
  return null;
}

function mayAlso(verdict: Verdict, folded: Exploration, cells: c.Cells): boolean {
  if (!verdict.disruptive) return true;
  const { kind, targets } = folded.decisions.of(cells, cells, cells);
  return kind === verdict.kind && targets === verdict.targets;
}

/** Explored without folding where nothing else limits it. `make soak` explores 300,000, and a changing template too. */
const states = statesUnlessSoaked(5_000);
const onlySoaked: readonly Family[] = isSoaked ? [] : ['template'];

describe('folding loses no state', () => {
  const coarse = { detail: 'coarse', badRevision: false } as const;

  it('of one member with any number of faults', () => {
    expect(lost({ badRevision: false }, 1, 1e9)).to.deep.equal([]);
    expect(lost({ badRevision: true }, 1, 1e9)).to.deep.equal([]);
  });

  it('of three members with one fault, within a limit of states', () => {
    expect(lost({ ...coarse, faults: 1 }, 3, 3 * states)).to.deep.equal([]);
  });

  it('of three members whose pods another client deletes, within a limit of states', () => {
    const chosen: ReadonlySet<Family> = new Set(['new-pods']);
    expect(lost({ ...coarse, faults: 1, families: chosen }, 3, states / 2)).to.deep.equal([]);
  });

  it('of three members in full detail, within a limit of states', () => {
    expect(lost({ badRevision: true, faults: 1 }, 3, states)).to.deep.equal([]);
  });

  const three = families.filter(
    (family) => family !== 'two-at-once' && family !== 'scaling' && !onlySoaked.includes(family),
  );
  for (const family of three) {
    it(`of three members with ${family}, within a limit of states`, () => {
      const chosen: ReadonlySet<Family> = new Set([family]);
      expect(lost({ ...coarse, faults: 0, families: chosen }, 3, states / 2)).to.deep.equal([]);
    });
  }

  it('and the test notices if states are missing', () => {
    const whole = new Exploration(worldOf(3, { ...coarse, faults: 1, folded: false }));
    whole.run({ states });
    const fewer = new Exploration(worldOf(3, { ...coarse, faults: 0, folded: true }));
    fewer.run();
    const state = (whole.pathTo(0)[0] as c.Cells).slice();
    let missing = 0;
    for (let number = 0; number < whole.table.count; number++) {
      whole.state(number, state);
      if (standInOf(state, fewer) === null) missing++;
    }
    expect(missing).to.be.greaterThan(0);
  });
});
