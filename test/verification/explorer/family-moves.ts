import { protectedMembers } from '../../support/moco/decisions.ts';
import * as c from './cells.ts';
import * as facts from './facts.ts';
import { applies } from './relay-log.ts';
import { benign, moco, type Successors } from './successors.ts';
import { mayAsk, type World } from './world.ts';

const { Backup, Health, Scale, Stage } = c;

/** What the families add to the base model. */
export function familyMoves(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  const has = (family: Parameters<World['families']['has']>[0]): boolean => world.families.has(family);
  const n = facts.replicasOf(cells, world);
  const set = (at: number, value: number, kind: number): c.Cells => {
    const next = out.add(cells, kind);
    next[at] = value;
    return next;
  };
  if (has('budget')) {
    // MOCO closes the budget in its spec after a backup has begun; the disruption controller follows, whenever it does.
    if (cells[c.BACKUP] === Backup.None) set(c.BACKUP, Backup.Began, 0);
    if (cells[c.BACKUP] === Backup.Began) set(c.BACKUP, Backup.Closed, benign)[c.COMPUTED] = 0;
    // Without closing it if a person has created the Job.
    if (cells[c.BACKUP] === Backup.Began) set(c.BACKUP, Backup.None, benign);
    if (cells[c.BACKUP] === Backup.Closed) set(c.BACKUP, Backup.None, benign)[c.COMPUTED] = 0;
    const allows = facts.budgetAllows(cells, n) ? 1 : 0;
    if (cells[c.COMPUTED] === 0 || cells[c.OPEN] !== allows) set(c.COMPUTED, 1, benign)[c.OPEN] = allows;
  }
  if (has('prevent-delete') && facts.count(cells, n, facts.isMissing) === 0) protection(cells, out);
  if (has('errant')) {
    for (let ordinal = 0; ordinal < n; ordinal++) {
      const errant = facts.isErrant(cells, ordinal);
      // Transactions that others don't have are errant on a replica; on the primary they are the truth.
      if (ordinal === cells[c.INDEX] && !errant) continue;
      const next = set(c.ERRANT, (cells[c.ERRANT] as number) ^ c.bit(ordinal), errant ? benign | moco : moco);
      if (!errant && !(facts.answers(cells, ordinal) && fails(next))) out.drop();
    }
  }
  if (has('upstream')) {
    if (cells[c.UPSTREAM] === c.Upstream.Away) set(c.UPSTREAM, c.Upstream.Answers, benign);
    else set(c.UPSTREAM, c.Upstream.Away, 0);
  }
  if (has('maintenance')) {
    if (cells[c.WINDOW] === c.Window.Open) set(c.WINDOW, c.Window.Short, 0);
    else set(c.WINDOW, c.Window.Open, benign);
    if (cells[c.WINDOW] !== c.Window.Closed) set(c.WINDOW, c.Window.Closed, 0);
  }
  if (has('scaling') && cells[c.SCALE] !== Scale.Done) {
    set(c.SCALE, (cells[c.SCALE] as number) + 1, benign);
  }
  if (has('template')) templateMoves(cells, world, out);
  for (const [request, at] of requestCells) {
    if (!mayAsk(world, request)) continue;
    if (request !== 'approves') set(at, 1 - (cells[at] as number), cells[at] === 1 ? benign : 0);
    else if (cells[at] === 0) set(at, 1, benign);
  }
  if (has('new-pods')) strategyMoves(cells, world, out, fails);
  if (has('foreign-demote')) {
    for (let ordinal = 0; ordinal < n; ordinal++) {
      if (facts.isMissing(cells, ordinal) || facts.isTerminating(cells, ordinal)) continue;
      const demote = cells[c.DEMOTE + ordinal];
      if (demote === c.Demote.Foreign) set(c.DEMOTE + ordinal, c.Demote.None, benign);
      else if (demote === c.Demote.None && !fails(set(c.DEMOTE + ordinal, c.Demote.Foreign, 0))) out.drop();
    }
  }
  if (has('partition-mode')) rollingUpdate(cells, n, out);
  if (has('relay-log')) applies(cells, out);
  if (has('agents') && cells[c.AGENTLESS] === 0) agentsDie(cells, n, out, fails);
  if (has('delay')) set(c.DELAYED, 1 - (cells[c.DELAYED] as number), cells[c.DELAYED] === 1 ? benign : 0);
  if (has('leaving-nodes')) nodeMoves(cells, n, out);
  if (has('late-write') && cells[c.INTENT] !== 0) {
    // Whoever wrote the intent has died, or its request is still on the way.
    const invalidated = set(c.INTENT, 0, benign);
    invalidated[c.INTENDED] = 0;
  }
}

/** Somebody begins to empty a node with one member or two, or lets it stay. Nothing is to count on that. */
function nodeMoves(cells: c.Cells, n: number, out: Successors): void {
  if (cells[c.LEAVING] !== 0) {
    out.add(cells, 0)[c.LEAVING] = 0;
    return;
  }
  for (let one = 0; one < n; one++) {
    for (let other = one; other < n; other++) {
      if (facts.isMissing(cells, one) || facts.isMissing(cells, other)) continue;
      out.add(cells, 0)[c.LEAVING] = c.bit(one) | c.bit(other);
    }
  }
}

const requestCells = [
  ['pauses', c.PAUSED],
  ['pins', c.HELD],
  ['approves', c.APPROVED],
  ['restores', c.RESTORE],
] as const;

function observe(next: c.Cells): void {
  next[c.FOLLOWS] = next[c.NEW_PODS] === c.NewPods.Kept ? 1 : 0;
}

/** The StatefulSet controller observes the strategy, and promotes the revision that every member has and is Ready with. */
function strategyMoves(cells: c.Cells, world: World, out: Successors, fails: (state: c.Cells) => boolean): void {
  const { replicas } = world;
  if (cells[c.STAGE] !== Stage.Applied && !facts.isObserved(cells)) observe(out.add(cells, benign));
  const isDone = (at: c.Cells, ordinal: number): boolean =>
    facts.isUpdated(at, ordinal) && facts.isReady(at, ordinal) && !facts.isTerminating(at, ordinal);
  if (cells[c.FOLLOWS] === 1 && facts.count(cells, replicas, isDone) === replicas)
    out.add(cells, benign)[c.CURRENT] = cells[c.TARGET] as number;
  if (world.current === 'older' && cells[c.CURRENT] === 0) {
    // A sync that began before the current revision was set overwrites it.
    const next = out.add(cells, 0);
    next[c.CURRENT] = c.olderRevision;
    if (!fails(next)) out.drop();
  }
  if (world.keeper === 'policy') return;
  // Somebody writes the StatefulSet while the webhook does not answer, and later while it does.
  if (cells[c.NEW_PODS] === c.NewPods.Asked) out.add(cells, benign)[c.NEW_PODS] = c.NewPods.Kept;
  if (cells[c.NEW_PODS] !== c.NewPods.Kept) return;
  const next = out.add(cells, 0);
  next[c.NEW_PODS] = c.NewPods.Asked;
  if (!fails(next)) out.drop();
}

/**
 * The agents of all members that run stop answering probes at once, as when their certificate expires. Each mysqld goes on,
 * and no pod is Ready again before it is another one. An updated member that comes up later has an agent that works.
 */
function agentsDie(cells: c.Cells, n: number, out: Successors, fails: (state: c.Cells) => boolean): void {
  const next = out.add(cells, 0);
  for (let ordinal = 0; ordinal < n; ordinal++) {
    if (facts.isUpdated(cells, ordinal) || !facts.runsThreads(cells, ordinal)) continue;
    if (facts.isTerminating(cells, ordinal) || facts.healthOf(cells, ordinal) === Health.Unreachable) continue;
    next[c.AGENTLESS] = (next[c.AGENTLESS] as number) | (1 << ordinal);
    if (facts.participates(cells, ordinal)) next[c.HEALTH + ordinal] = Health.Lagging;
  }
  if (next[c.AGENTLESS] === 0 || !fails(next)) out.drop();
}

/** Whether a replica lags is not a part of a state: it may at any time. */
function protection(cells: c.Cells, out: Successors): void {
  const now = cells[c.PREVENT] as number;
  const index = cells[c.INDEX] as number;
  const more = protectedMembers(now, index, true);
  if (more !== now) out.add(cells, moco)[c.PREVENT] = more;
  const none = protectedMembers(now, index, false);
  if (none !== now) out.add(cells, benign | moco)[c.PREVENT] = none;
}

/** The user changes the template, MOCO applies it, and the StatefulSet controller sees it. */
function templateMoves(cells: c.Cells, { changes }: World, out: Successors): void {
  if (cells[c.STAGE] === Stage.Asked) out.add(cells, benign | moco)[c.STAGE] = Stage.Applied;
  if (cells[c.STAGE] === Stage.Applied) {
    const next = out.add(cells, benign);
    next[c.STAGE] = Stage.Settled;
    if (next[c.TARGET] !== next[c.WANTED]) newRevision(next, next[c.WANTED] as number);
    observe(next);
  }
  if ((cells[c.CHANGES] as number) >= changes) return;
  for (let revision = 0; revision < 3; revision++) {
    if (revision === cells[c.WANTED]) continue;
    const next = out.add(cells, moco);
    next[c.WANTED] = revision;
    next[c.STAGE] = Stage.Asked;
    next[c.CHANGES] = (next[c.CHANGES] as number) + 1;
  }
}

const ofOneRevision = [
  c.VERIFIED,
  c.TAKEN,
  c.TRIES,
  c.WAITED,
  c.STUCK,
  c.LOST,
  c.NOTED,
  c.CREATED,
  c.STARTED,
  c.RESTORING,
  c.BACK,
] as const;

/** What is remembered is remembered of one revision. */
function newRevision(next: c.Cells, revision: number): void {
  if (next[c.NOTED] === 1) next[c.EARLIER] = next[c.TARGET] as number;
  next[c.TARGET] = revision;
  // The state no longer shows what the missing pods were, nor which members were to come back.
  for (let ordinal = 0; ordinal < c.mostMembers; ordinal++) {
    if (facts.isMissing(next, ordinal) && facts.has(next[c.BACK], ordinal))
      next[c.TOOK] = (next[c.TOOK] as number) | c.bit(ordinal);
  }
  for (const at of ofOneRevision) next[at] = 0;
  for (let ordinal = 0; ordinal < c.mostMembers; ordinal++) {
    const demote = next[c.DEMOTE + ordinal];
    if (demote === c.Demote.Ours) next[c.DEMOTE + ordinal] = c.Demote.OursForAnother;
    if (next[c.RESIZE + ordinal] !== c.Resize.None) next[c.RESIZE + ordinal] = c.Resize.ForAnother;
  }
}

/** The StatefulSet's own rolling update: from the top down to the partition, and none while one above is not well. */
function rollingUpdate(cells: c.Cells, n: number, out: Successors): void {
  for (let ordinal = n - 1; ordinal >= (cells[c.PARTITION] as number); ordinal--) {
    if (facts.isMissing(cells, ordinal) || facts.isTerminating(cells, ordinal)) return;
    if (!facts.isUpdated(cells, ordinal)) {
      const next = out.add(cells, benign);
      next[c.HEALTH + ordinal] = facts.answers(cells, ordinal) ? Health.Terminating : Health.Ending;
      return;
    }
    if (!facts.isReady(cells, ordinal)) return;
  }
}
