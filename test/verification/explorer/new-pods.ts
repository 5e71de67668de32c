import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import * as facts from './facts.ts';
import { revisionName, revisionNumber } from './view.ts';
import type { World } from './world.ts';

// Judges the revision at which a member comes back after another client has deleted its pod. The state itself shows who
// ended the pod, and what the pod was, regardless of what the controller has recorded.

const { has } = facts;

const isStale = (cells: c.Cells, ordinal: number): boolean => !facts.isUpdated(cells, ordinal);

/** A person or the world keeps the member from the update revision. */
export function isHeld(cells: c.Cells, ordinal: number, world: World): boolean {
  const { policy, replicas } = world;
  const leads = ordinal === cells[c.INDEX];
  const pinned = replicas - 1;
  const isPinned = cells[c.HELD] === 1;
  if (cells[c.PAUSED] === 1 || (isPinned && ordinal === pinned) || ordinal < policy.partition) return true;
  if (policy.lostMembers === 'KeepRevision' || !facts.isVerified(cells, replicas)) return true;
  if (!leads) return false;
  const isOlder = isPinned && isStale(cells, pinned) && !facts.isMissing(cells, pinned);
  return isOlder || (policy.primaryUpdatePolicy === 'Manual' && cells[c.APPROVED] === 0);
}

/** Its pod is going or gone, no step of the rollout has taken it, and it is to come back as what it was. */
export function isLost(cells: c.Cells, ordinal: number, world: World): boolean {
  if (!facts.isGoing(cells, ordinal) || facts.isUnborn(cells, ordinal, world)) return false;
  if (has(cells[c.BACK], ordinal)) return true;
  return isStale(cells, ordinal) && !has(cells[c.TOOK], ordinal) && isHeld(cells, ordinal, world);
}

/** Another pod of it is about to be created, and no step has taken the one before to restore it. */
const isAwaited = (cells: c.Cells, ordinal: number): boolean =>
  facts.isGoing(cells, ordinal) && !has(cells[c.BACK], ordinal);

/** Its data are of the update revision, and its pod is going or gone. */
export function isUpdatedGone(cells: c.Cells, ordinal: number): boolean {
  return isAwaited(cells, ordinal) && facts.isUpdated(cells, ordinal) && has(cells[c.RAN], ordinal);
}

/** Another pod of it is about to be created, and its mysqld may not open the data if it is of that revision. */
const isSetBackBy = (cells: c.Cells, ordinal: number, revision: number, world: World): boolean =>
  isAwaited(cells, ordinal) && !isAt(cells, ordinal, revision, world);

/** The data of the member are of the revision, or it has none yet. */
const isAt = (cells: c.Cells, ordinal: number, revision: number | undefined, world: World): boolean =>
  facts.isUnborn(cells, ordinal, world) || facts.dataOf(cells, ordinal, world) === revision;

/** The data of every member are of the current revision. */
const suitsEveryMember = (cells: c.Cells, world: World): boolean =>
  ordinals(world).every((one) => isAt(cells, one, cells[c.CURRENT], world));

/** It comes back at the revision that it had, or at another one than the update revision if a restore has taken it. */
export function comesBack(cells: c.Cells, ordinal: number): boolean {
  if (cells[c.NEW_PODS] !== c.NewPods.Kept) return false;
  const had = cells[c.REVISION + ordinal];
  return has(cells[c.BACK], ordinal) ? cells[c.CURRENT] !== cells[c.TARGET] : cells[c.CURRENT] === had;
}

/** The decision makes it so, or is one part of that. */
function makesItSo({ newPods, promotes }: Verdict, cells: c.Cells, ordinal: number): boolean {
  if (promotes === revisionName(cells[c.REVISION + ordinal] as number)) return true;
  const keeps = newPods === 'CurrentRevision' && cells[c.NEW_PODS] !== c.NewPods.Kept;
  return keeps || (promotes !== null && has(cells[c.BACK], ordinal));
}

/**
 * A step has taken it, and nobody has written down that it is back, or nothing at all is written down about this revision,
 * and no pod shows that there is a rollout.
 */
function isUnknown(cells: c.Cells, ordinal: number, { replicas }: World): boolean {
  if (cells[c.NOTED] === 1) return !has(cells[c.WAITING], ordinal) && !has(cells[c.RESTORING], ordinal);
  if (!facts.isMissing(cells, ordinal)) return false;
  return facts.count(cells, replicas, (at, one) => !facts.isMissing(at, one) && isStale(at, one)) === 0;
}

/** The next step of the rollout takes it, and new pods have to start at the update revision before. */
const isNext = ({ newPods, hold }: Verdict, cells: c.Cells, ordinal: number): boolean =>
  newPods === 'UpdateRevision' &&
  hold === null &&
  !facts.isMissing(cells, ordinal) &&
  !facts.isTerminating(cells, ordinal) &&
  !has(cells[c.BACK], ordinal);

/**
 * The only way to come back updated is to be created before the next decision, or beside a pod that a step of ours has
 * taken. A demotion is taken back first, which is one write, and nothing is known before the StatefulSet controller has
 * observed the StatefulSet. Nobody is kept whose pods are created beside those of a member with other data, nor whose node
 * does not answer, which may last for hours, where other data are about.
 */
function keepsLost(verdict: Verdict, cells: c.Cells, world: World): boolean {
  if (verdict.kind === 'undemote' || !facts.isObserved(cells)) return true;
  const isPatient = suitsEveryMember(cells, world);
  const lost = ordinals(world).filter(
    (one) =>
      isLost(cells, one, world) &&
      !has(verdict.targets, one) &&
      !isNext(verdict, cells, one) &&
      !isUnknown(cells, one, world) &&
      (isPatient || facts.healthOf(cells, one) !== c.Health.Unreachable),
  );
  const [first] = lost;
  if (first === undefined) return true;
  const isOwn = (one: number): boolean => isAwaited(cells, one) && has(cells[c.TOOK], one);
  const kept = facts.dataOf(cells, first, world);
  const isAlone = kept === null || ordinals(world).some((one) => isSetBackBy(cells, one, kept, world));
  if (isAlone || ordinals(world).some(isOwn)) return true;
  const stays = verdict.newPods !== 'UpdateRevision';
  return lost.some((one) => (stays && comesBack(cells, one)) || makesItSo(verdict, cells, one));
}

/**
 * Nobody comes back at another revision than that of its data, but who was lost between two decisions: new pods do not
 * start at it while such a member is going, nor while there is one and nobody is to come back at it.
 */
function setsNobodyBack(verdict: Verdict, cells: c.Cells, world: World): boolean {
  if (cells[c.NEW_PODS] === c.NewPods.Updated) return true;
  if (verdict.kind === 'undemote' || verdict.newPods === 'UpdateRevision') return true;
  const revision = verdict.promotes === null ? (cells[c.CURRENT] as number) : revisionNumber(verdict.promotes);
  if (ordinals(world).some((one) => isSetBackBy(cells, one, revision, world))) return false;
  const isConcerned = (one: number): boolean =>
    isLost(cells, one, world) || isRestorable(cells, one, world) || has(verdict.targets, one);
  const isNewer = (one: number): boolean =>
    !facts.isGoing(cells, one) && facts.dataOf(cells, one, world) !== cells[c.CURRENT];
  return !ordinals(world).some(isNewer) || ordinals(world).some(isConcerned);
}

/** It is at the update revision, does not work, and is to leave it. */
function isRestorable(cells: c.Cells, ordinal: number, world: World): boolean {
  if (!facts.isUpdated(cells, ordinal) || facts.isGoing(cells, ordinal) || facts.participates(cells, ordinal))
    return false;
  const isRequested = cells[c.RESTORE] === 1 && ordinal === world.replicas - 1;
  // An updated member that waits was just created, so it may not be recorded yet.
  const isNoted = has(cells[c.CREATED], ordinal) || has(cells[c.WAITING], ordinal);
  const isTooEarly = isNoted && !has(cells[c.RAN], ordinal);
  return isRequested || (isTooEarly && isHeld(cells, ordinal, world));
}

/** Nobody's revision is kept by making the update revision the current one. */
const promotesTooEarly = ({ promotes }: Verdict, cells: c.Cells, world: World): boolean =>
  promotes === revisionName(cells[c.TARGET] as number) &&
  ordinals(world).some((one) => isStale(cells, one) && !has(cells[c.TOOK], one) && !facts.isUnborn(cells, one, world));

/**
 * A person has paused the rollout, and new pods start at the revision of all existing data. No step has deleted the pod
 * of a member that awaits its next one, and no demotion is pending.
 */
function restsWhilePaused(cells: c.Cells, world: World): boolean {
  const isKept = cells[c.NEW_PODS] === c.NewPods.Kept && cells[c.CURRENT] !== cells[c.TARGET];
  if (!isKept || cells[c.PAUSED] !== 1 || world.keeper === 'webhook' || !facts.isObserved(cells)) return false;
  const isThere = (one: number): boolean => isStale(cells, one) && !facts.isMissing(cells, one);
  const isUnderWay = (one: number): boolean =>
    facts.isDemoted(cells, one) || (isAwaited(cells, one) && has(cells[c.TOOK], one));
  return suitsEveryMember(cells, world) && ordinals(world).some(isThere) && !ordinals(world).some(isUnderWay);
}

export function judgeNewPods(verdict: Verdict, cells: c.Cells, world: World): 'lost' | 'back' | null {
  if (!keepsLost(verdict, cells, world) || promotesTooEarly(verdict, cells, world)) return 'lost';
  if (verdict.newPods === 'UpdateRevision' && restsWhilePaused(cells, world)) return 'lost';
  return setsNobodyBack(verdict, cells, world) ? null : 'back';
}

/**
 * A write that lets new pods start at the update revision was right at one moment since it was decided: no held member
 * was lost that would have come back at the revision that it had. The confirmation does not read everything at one moment.
 * The user's settings are read before the pods: a pin or a pause that is written after that may as well have been written
 * a moment later. A revision that a member has verified by then stays verified.
 */
export function judgeStrategy(verdict: Verdict, window: readonly c.Cells[], world: World): 'lost' | null {
  if (verdict.newPods !== 'UpdateRevision') return null;
  const wasRight = (cells: c.Cells, at: number): boolean =>
    keepsLost(verdict, cells, world) || keepsLost(verdict, asRead(window.slice(0, at + 1), world), world);
  return window.some(wasRight) ? null : 'lost';
}

/** The last of these states, with what a confirmation that began at the first one may have read before. */
function asRead(window: readonly c.Cells[], world: World): c.Cells {
  const [first, last] = [window[0] as c.Cells, window.at(-1) as c.Cells];
  const read = last.slice();
  for (const cell of [c.HELD, c.PAUSED]) read[cell] = first[cell] as number;
  if (window.some((cells) => facts.isVerified(cells, world.replicas))) read[c.VERIFIED] = 1;
  return read;
}

const everyOrdinal: readonly (readonly number[])[] = Array.from({ length: c.mostMembers + 1 }, (_, count) => [
  ...Array(count).keys(),
]);
const ordinals = ({ replicas }: World): readonly number[] => everyOrdinal[replicas] ?? [];
