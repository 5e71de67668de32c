import * as c from './cells.ts';
import * as facts from './facts.ts';
import { rolesLabelled } from './fold.ts';
import { benign, moco, type Successors } from './successors.ts';
import type { World } from './world.ts';

const { Health, Lead, Phase, Status } = c;

type State = 'Healthy' | 'Degraded' | 'Incomplete' | 'Failed' | 'Lost';

/** MOCO's clustering loop: the next thing that it does, in its own order. One at a time, whenever it likes. */
export function mocoMoves(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  switch (cells[c.PHASE] as number) {
    case Phase.Watching:
      pass(cells, world, out);
      if (world.folded) anyTime(cells, world, out);
      return;
    case Phase.Switchover:
      return switchoverEnds(cells, world, out, fails);
    case Phase.Failover: {
      const elected = lowest(cells, world, isElectable);
      return elected === null ? watch(cells, out) : moveIndex(cells, elected, world, out);
    }
    case Phase.Moved:
      return demotionEnds(out.add(cells, benign | moco), world);
    case Phase.Repointing:
      return repointed(cells, world, out);
    case Phase.Labelling:
      return label(out.add(cells, benign | moco), world);
    case Phase.Opening: {
      const next = out.add(cells, benign | moco);
      next[c.PHASE] = Phase.Watching;
      const index = next[c.INDEX] as number;
      if (!facts.answers(next, index)) return;
      next[c.LEAD] = Lead.Open;
      configure(next, index);
      return;
    }
  }
}

function label(next: c.Cells, world: World): void {
  for (let ordinal = 0; ordinal < facts.replicasOf(next, world); ordinal++) {
    if (isLabelled(next, ordinal)) next[c.SETTLED + ordinal] = 1;
  }
  next[c.PHASE] = next[c.LEAD] === Lead.Open ? Phase.Watching : Phase.Opening;
}

/** MOCO labels what it has configured in the same pass: it leaves out errant ones and those that it can't reach. */
function isLabelled(cells: c.Cells, ordinal: number): boolean {
  const configured = facts.answers(cells, ordinal) && facts.healthOf(cells, ordinal) !== Health.Up;
  return configured && !facts.isErrant(cells, ordinal);
}

function watch(cells: c.Cells, out: Successors): void {
  out.add(cells, benign | moco)[c.PHASE] = Phase.Watching;
}

function demotionEnds(next: c.Cells, world: World): void {
  next[c.PHASE] = Phase.Watching;
  for (let ordinal = 0; ordinal < world.replicas; ordinal++) {
    if (ordinal !== next[c.INDEX] && facts.isDemoted(next, ordinal)) takeDemoteAway(next, ordinal);
  }
}

function takeDemoteAway(next: c.Cells, ordinal: number): void {
  const ours = next[c.DEMOTE + ordinal] !== c.Demote.Foreign;
  next[c.DEMOTE + ordinal] = ours ? c.Demote.MarkAlone : c.Demote.None;
}

function isGood(cells: c.Cells, ordinal: number): boolean {
  return (
    ordinal !== cells[c.INDEX] &&
    facts.isReady(cells, ordinal) &&
    cells[c.LEAD] !== Lead.Moved &&
    !facts.isErrant(cells, ordinal)
  );
}

function isElectable(cells: c.Cells, ordinal: number): boolean {
  return ordinal !== cells[c.INDEX] && facts.answers(cells, ordinal) && !facts.isErrant(cells, ordinal);
}

function lowest(cells: c.Cells, world: World, holds: (cells: c.Cells, ordinal: number) => boolean): number | null {
  for (let ordinal = 0; ordinal < facts.replicasOf(cells, world); ordinal++) if (holds(cells, ordinal)) return ordinal;
  return null;
}

function stateOf(cells: c.Cells, n: number): State {
  const index = cells[c.INDEX] as number;
  const takesWrites = facts.answers(cells, index) && cells[c.LEAD] === Lead.Open;
  const good = facts.count(cells, n, isGood);
  if (takesWrites && good === n - 1 && facts.count(cells, n, facts.isReady) === n) return 'Healthy';
  const half = Math.floor(n / 2);
  if (takesWrites && facts.isReady(cells, index) && good >= half && good !== n - 1) return 'Degraded';
  if (facts.answers(cells, index)) return 'Incomplete';
  return facts.count(cells, n, isElectable) > half ? 'Failed' : 'Lost';
}

/** Status first, then the one operation that the state asks for. Nothing at all while a pod is missing. */
function pass(cells: c.Cells, world: World, out: Successors): void {
  const n = facts.replicasOf(cells, world);
  if (facts.count(cells, n, facts.isMissing) > 0) return;
  const state = stateOf(cells, n);
  const status = state === 'Healthy' ? Status.Healthy : state === 'Degraded' ? Status.Available : Status.Poor;
  const synced = facts.count(cells, n, facts.isReady);
  const next = out.add(cells, benign | moco);
  next[c.STATUS] = status;
  if (world.families.has('two-at-once')) next[c.SYNCED] = synced;
  const begun = begin(next, state, n, world);
  // It may hand the role to and fro between members that are leaving, but nothing is to count on that.
  const onwards = next[c.PHASE] !== Phase.Switchover || !facts.isLeaving(next, next[c.TO] as number);
  if (!onwards) out.kinds[out.count - 1] = moco;
  if (!begun && status === cells[c.STATUS] && next[c.SYNCED] === cells[c.SYNCED]) out.drop();
}

function begin(next: c.Cells, state: State, n: number, world: World): boolean {
  const index = next[c.INDEX] as number;
  switch (state) {
    case 'Healthy':
    case 'Degraded': {
      const wanted = facts.isLeaving(next, index) || facts.isDemoted(next, index);
      const heir = wanted && next[c.PREVENT] === 0 ? lowest(next, world, isGood) : null;
      if (heir !== null) {
        next[c.PHASE] = Phase.Switchover;
        next[c.TO] = heir;
        next[c.LEAD] = Lead.Closed;
        return true;
      }
      return state === 'Degraded' && beginConfiguring(next, n, world);
    }
    case 'Incomplete':
      return beginConfiguring(next, n, world);
    case 'Failed':
      next[c.PHASE] = Phase.Failover;
      return true;
    case 'Lost':
      return false;
  }
}

function beginConfiguring(next: c.Cells, n: number, world: World): boolean {
  if (world.folded) return false;
  if (next[c.LEAD] === Lead.Open && facts.count(next, n, wantsConfiguring) === 0) return false;
  next[c.PHASE] = Phase.Repointing;
  return true;
}

function wantsConfiguring(cells: c.Cells, ordinal: number): boolean {
  if (facts.isErrant(cells, ordinal)) return false;
  const health = facts.healthOf(cells, ordinal);
  const fresh = health === Health.Up || (health === Health.Retrying && !facts.isBad(cells, ordinal));
  return fresh || lacksLabel(cells, ordinal);
}

/** Operations that a pass may have begun, not remembered: each may be done whenever it could have been begun. */
function anyTime(cells: c.Cells, world: World, out: Successors): void {
  const index = cells[c.INDEX] as number;
  const poor = cells[c.STATUS] === Status.Poor;
  if (!facts.answers(cells, index)) return;
  if (cells[c.LEAD] === Lead.Moved) {
    if (!poor) return;
    const next = out.add(cells, benign | moco);
    next[c.LEAD] = Lead.Repointed;
    if (world.detail === 'coarse') label(next, world);
    return;
  }
  const labelled = rolesLabelled(cells);
  if (facts.count(cells, facts.replicasOf(cells, world), lacksLabel) > 0) label(out.add(cells, benign | moco), world);
  // A pod that is leaving doesn't show whether it has been labelled.
  const mayOpen = labelled || facts.isLeaving(cells, index) || world.detail === 'coarse';
  if (mayOpen && cells[c.LEAD] !== Lead.Open) out.add(cells, benign | moco)[c.LEAD] = Lead.Open;
}

const lacksLabel = (cells: c.Cells, ordinal: number): boolean =>
  cells[c.SETTLED + ordinal] === 0 && !facts.isLeaving(cells, ordinal) && isLabelled(cells, ordinal);

/** mysqld follows, or leads, and is about to be ready. */
function configure(next: c.Cells, ordinal: number): void {
  const health = facts.healthOf(next, ordinal);
  if (health === Health.Up || (health === Health.Retrying && !facts.isBad(next, ordinal))) {
    next[c.HEALTH + ordinal] = Health.Lagging;
  }
}

function repointed(cells: c.Cells, world: World, out: Successors): void {
  const next = out.add(cells, benign | moco);
  for (let ordinal = 0; ordinal < facts.replicasOf(cells, world); ordinal++) {
    if (ordinal === next[c.INDEX] || facts.isErrant(next, ordinal)) continue;
    configure(next, ordinal);
  }
  if (next[c.LEAD] === Lead.Moved) next[c.LEAD] = Lead.Repointed;
  next[c.PHASE] = Phase.Labelling;
  if (world.detail === 'coarse') label(next, world);
}

function switchoverEnds(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  if (!facts.answers(cells, cells[c.INDEX] as number)) return watch(cells, out);
  moveIndex(cells, cells[c.TO] as number, world, out);
  const failed = out.add(cells, moco);
  failed[c.PHASE] = Phase.Watching;
  if (!fails(failed)) out.drop();
}

/** How both end for MOCO: the index moves, with `Healthy` as it was, and then the old primary loses `demote`. */
function moveIndex(cells: c.Cells, to: number, world: World, out: Successors): void {
  const next = out.add(cells, benign | moco);
  const old = next[c.INDEX] as number;
  next[c.INDEX] = to;
  next[c.LEAD] = Lead.Moved;
  next[c.PHASE] = facts.isDemoted(next, old) ? Phase.Moved : Phase.Watching;
  if (world.detail === 'coarse') demotionEnds(next, world);
  if (world.countMoves) next[c.MOVES] = Math.min(3, (next[c.MOVES] as number) + 1);
}
