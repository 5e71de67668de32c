import { canonical } from './canonical.ts';
import * as c from './cells.ts';
import * as facts from './facts.ts';
import { familyMoves } from './family-moves.ts';
import { memberMoves } from './member-moves.ts';
import { mocoMoves } from './moco-moves.ts';
import { backlogs } from './relay-log.ts';
import { late, type Successors } from './successors.ts';
import type { World } from './world.ts';

/** Everything that can happen next and is not this program's doing: nodes, MOCO, time, people. */
export function environmentMoves(
  cells: c.Cells,
  world: World,
  out: Successors,
  which: 'all' | 'last read' = 'all',
): void {
  out.clear();
  const fails = (state: c.Cells): boolean => countFault(state, world);
  if (which === 'last read') {
    mocoMoves(cells, world, out, fails);
  } else {
    everyMove(cells, world, out, fails);
  }
  if (world.families.size > 0) familyMoves(cells, world, out, fails);
  if (world.families.has('relay-log')) backlogs(cells, out);
  for (let number = 0; number < out.count; number++) canonical(cells, out.states[number] as c.Cells, world);
}

function everyMove(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  for (let ordinal = 0; ordinal < facts.podsWanted(cells, world); ordinal++) {
    memberMoves(cells, ordinal, world, out, fails);
  }
  mocoMoves(cells, world, out, fails);
  deadlines(cells, world, out);
}

function countFault(state: c.Cells, { faults }: World): boolean {
  if (faults === null) return true;
  const sofar = state[c.FAULTS] as number;
  state[c.FAULTS] = sofar + 1;
  return sofar < faults;
}

function deadlines(cells: c.Cells, world: World, out: Successors): void {
  const n = facts.replicasOf(cells, world);
  const pass = (at: number): void => {
    out.add(cells, late)[at] = 1;
  };
  if (!world.folded && cells[c.GRACE] === 0 && facts.graceRuns(cells, world)) pass(c.GRACE);
  if (cells[c.TIMEOUT] === 0 && facts.count(cells, n, facts.isDemoted) > 0) pass(c.TIMEOUT);
  if (cells[c.TRIES] === 1 && cells[c.WAITED] === 0) pass(c.WAITED);
  const failing = facts.count(cells, n, (at, one) => facts.isUpdated(at, one) && facts.isBroken(at, one)) > 0;
  const noQuorum = failing && facts.count(cells, n, facts.participates) < facts.majorityOf(n);
  const failsForGood = world.badRevision && cells[c.VERIFIED] === 0 && noQuorum;
  if (cells[c.STUCK] === 0 && (failsForGood || facts.unconfigurable(cells, n) !== null)) pass(c.STUCK);
}
