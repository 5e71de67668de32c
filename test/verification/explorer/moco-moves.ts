import {
  type ClusteringFacts,
  candidates,
  type DecidedState,
  elected,
  has,
  isAvailable,
  isHealthy,
  lowest,
  memberBit,
  membersWhere,
  operationOf,
  repointed,
  stateOf,
  stepAfterLabelling,
  switchoverSucceeds,
  syncedReplicas,
  wantedRole,
} from '../../support/moco/decisions.ts';
import * as c from './cells.ts';
import * as facts from './facts.ts';
import { rolesLabelled } from './fold.ts';
import { isReached } from './member-moves.ts';
import { benign, moco, type Successors } from './successors.ts';
import type { World } from './world.ts';

// When MOCO does something is free here; what it does comes from the decisions that the stand-in shares.

const { Health, Lead, Phase, Status } = c;

/**
 * What MOCO's decisions ask for, from a state. A terminating pod is ready until its agent has gone, five seconds after
 * its deletion; its mysqld answers for longer.
 */
export function clusteringFacts(cells: c.Cells, world: World, agentsGone = false): ClusteringFacts {
  const replicas = facts.replicasOf(cells, world);
  const primary = cells[c.INDEX] as number;
  const moved = cells[c.LEAD] === Lead.Moved;
  let [ready, answering, mislabelled, misconfigured] = [0, 0, 0, 0];
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    const bit = memberBit(ordinal);
    if (facts.isReady(cells, ordinal) && !(agentsGone && facts.isTerminating(cells, ordinal))) ready |= bit;
    if (facts.answers(cells, ordinal)) answering |= bit;
    // With folding MOCO may configure at any time: nothing has to be known of it.
    if (world.folded) continue;
    if (lacksLabel(cells, ordinal)) mislabelled |= bit;
    if (isFresh(cells, ordinal) && !facts.isErrant(cells, ordinal)) misconfigured |= bit;
  }
  return {
    replicas,
    primary,
    ready,
    answering,
    following: moved ? 0 : -1,
    connected: moved ? 0 : -1,
    configured: -1,
    errant: cells[c.ERRANT] as number,
    writable: cells[c.LEAD] === Lead.Open,
    stepsDown: facts.isTerminating(cells, primary) || facts.isDemoted(cells, primary),
    lags: cells[c.PREVENT] !== 0,
    mislabelled,
    misconfigured,
  };
}

/** MOCO's clustering loop: the next thing that it does, in its own order. One at a time, whenever it likes. */
export function mocoMoves(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  switch (cells[c.PHASE] as number) {
    case Phase.Watching:
      if (facts.count(cells, world.replicas, facts.isTerminating) === 0) {
        pass(cells, world, out, false, benign | moco);
      } else {
        // The agents go and don't come back: what MOCO sees before leads back to no pass after.
        pass(cells, world, out, false, moco);
        pass(cells, world, out, true, benign | moco);
      }
      if (world.folded) anyTime(cells, world, out);
      return;
    case Phase.Switchover:
      return switchoverEnds(cells, world, out, fails);
    case Phase.Failover: {
      const top = cells[c.TOP] as number;
      const to = elected(clusteringFacts(cells, world), top === 0 ? 0 : memberBit(top - 1));
      if (to === null) return watch(cells, out);
      // MOCO waits for its applier, gives up, finds the cluster Failed, and waits again.
      return top === to + 1 ? undefined : moveIndex(cells, to, world, out);
    }
    case Phase.Moved:
      return demotionEnds(out.add(cells, benign | moco), world);
    case Phase.Repointing:
      return repoint(cells, world, out);
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

/** A replica that it has failed to configure ends a pass before this. */
function label(next: c.Cells, world: World): void {
  if (facts.unconfigurable(next, world.replicas) !== null) {
    next[c.PHASE] = Phase.Watching;
    return;
  }
  for (let ordinal = 0; ordinal < facts.replicasOf(next, world); ordinal++) {
    if (isLabelled(next, ordinal)) next[c.SETTLED + ordinal] = 1;
  }
  const step = stepAfterLabelling({ writable: next[c.LEAD] === Lead.Open });
  next[c.PHASE] = step === 'watching' ? Phase.Watching : Phase.Opening;
}

/** MOCO labels what it has configured in the same pass: it leaves out errant ones and those that it can't reach. */
function isLabelled(cells: c.Cells, ordinal: number): boolean {
  const configured = facts.answers(cells, ordinal) && facts.healthOf(cells, ordinal) !== Health.Up;
  if (!configured) return false;
  return wantedRole({ primary: cells[c.INDEX] as number, errant: cells[c.ERRANT] as number }, ordinal) !== null;
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
  const demote = next[c.DEMOTE + ordinal];
  const mark = demote === c.Demote.OursForNode ? c.Demote.MarkForNode : c.Demote.MarkWithoutDemote;
  next[c.DEMOTE + ordinal] = demote === c.Demote.Foreign ? c.Demote.None : mark;
}

/** Status first, then the one operation that the state asks for. Nothing at all while a pod is missing. */
function pass(cells: c.Cells, world: World, out: Successors, agentsGone: boolean, kinds: number): void {
  if (facts.count(cells, facts.replicasOf(cells, world), facts.isMissing) > 0) return;
  const known = clusteringFacts(cells, world, agentsGone);
  const state = stateOf(known);
  const status = statusOf(state);
  const next = out.add(cells, kinds);
  next[c.STATUS] = status;
  if (world.families.has('two-at-once')) next[c.SYNCED] = syncedReplicas(known);
  const operation = operationOf(known, state);
  const begins = operation === 'configure' ? !world.folded : operation !== 'nothing';
  switch (operation) {
    case 'switchover': {
      const to = lowest(candidates(known)) ?? known.primary;
      next[c.PHASE] = Phase.Switchover;
      next[c.TO] = to;
      next[c.LEAD] = Lead.Closed;
      // It may hand the role to and fro between members that are terminating, but nothing is to count on that.
      if (facts.isTerminating(next, to)) out.kinds[out.count - 1] = moco;
      break;
    }
    case 'failover':
      next[c.PHASE] = Phase.Failover;
      break;
    case 'configure':
      if (begins) next[c.PHASE] = Phase.Repointing;
      break;
    case 'nothing':
  }
  if (!begins && status === cells[c.STATUS] && next[c.SYNCED] === cells[c.SYNCED]) out.drop();
}

/** What a pass writes into the MySQLCluster. */
function statusOf(state: DecidedState): number {
  if (state === 'Failed' || state === 'Lost') return Status.Unserved;
  return isHealthy(state) ? Status.Healthy : isAvailable(state) ? Status.Available : Status.Poor;
}

/** Operations that a pass may have begun, not remembered: each may be done whenever it could have been begun. */
function anyTime(cells: c.Cells, world: World, out: Successors): void {
  const index = cells[c.INDEX] as number;
  const poor = cells[c.STATUS] === Status.Poor || cells[c.STATUS] === Status.Unserved;
  if (!facts.answers(cells, index)) return;
  if (cells[c.LEAD] === Lead.Moved) {
    if (!poor) return;
    const next = out.add(cells, benign | moco);
    next[c.LEAD] = Lead.Repointed;
    if (world.detail === 'coarse') label(next, world);
    return;
  }
  if (facts.unconfigurable(cells, world.replicas) !== null) return;
  const labelled = rolesLabelled(cells);
  if (facts.count(cells, facts.replicasOf(cells, world), lacksLabel) > 0) label(out.add(cells, benign | moco), world);
  // A pod that is terminating doesn't show whether it has been labelled.
  const mayOpen = labelled || facts.isTerminating(cells, index) || world.detail === 'coarse';
  if (mayOpen && cells[c.LEAD] !== Lead.Open) out.add(cells, benign | moco)[c.LEAD] = Lead.Open;
}

const lacksLabel = (cells: c.Cells, ordinal: number): boolean =>
  cells[c.SETTLED + ordinal] === 0 && !facts.isTerminating(cells, ordinal) && isLabelled(cells, ordinal);

/** Its process runs, and MOCO has not configured it yet. */
function isFresh(cells: c.Cells, ordinal: number): boolean {
  const health = facts.healthOf(cells, ordinal);
  return health === Health.Up || (health === Health.Retrying && !facts.isBad(cells, ordinal));
}

/** mysqld follows, or leads, and is about to be ready. */
function configure(next: c.Cells, ordinal: number): void {
  if (isFresh(next, ordinal)) next[c.HEALTH + ordinal] = Health.Lagging;
}

function repoint(cells: c.Cells, world: World, out: Successors): void {
  const next = out.add(cells, benign | moco);
  const followers = repointed(clusteringFacts(cells, world));
  const index = next[c.INDEX] as number;
  for (let ordinal = 0; ordinal < world.replicas; ordinal++) {
    const reached = isReached(cells, ordinal, world);
    if (reached && (has(followers, ordinal) || (ordinal === index && facts.answers(cells, index))))
      configure(next, ordinal);
  }
  if (next[c.LEAD] === Lead.Moved) next[c.LEAD] = Lead.Repointed;
  next[c.PHASE] = Phase.Labelling;
  if (world.detail === 'coarse') label(next, world);
}

function switchoverEnds(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  const to = cells[c.TO] as number;
  const primary = cells[c.INDEX] as number;
  // The member that is to lead may die right after MOCO has had its last answer.
  const answering = membersWhere(world.replicas, (ordinal) => ordinal === to || facts.answers(cells, ordinal));
  if (!switchoverSucceeds({ answering, primary }, to)) return watch(cells, out);
  moveIndex(cells, to, world, out);
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
