import { isAdopted, keepsRevisions, mayKeepRevisions } from './adoption.ts';
import { dataOf, isAt, mayBeUpdated, mayGoBackTo } from './data.ts';
import { isVerified } from './failing-revision.ts';
import { firstHold } from './gates.ts';
import { hasNeverStarted } from './member.ts';
import { isStuckTerminating } from './rules/unavailable.ts';
import type { KeptBecause, Recreated } from './sentences.ts';
import { isApproved, type Member, pinnedBehind, type Situation, target } from './situation.ts';
import type { Step } from './step.ts';

// Members whose pods are recreated without a step of the rollout.

/**
 * A member whose pod is terminating or gone without a step of the rollout. It comes back at its previous revision if
 * possible.
 */
export interface Lost {
  readonly ordinal: number;
  /** `null` if its pod does not exist. */
  readonly member: Member | null;
}

export const isGoing = ({ state, facts }: Member): boolean =>
  state === 'terminating' || state === 'unreachable' || facts.phase === 'Failed';

/** No step has replaced the member's pod. Without a record of the rollout there was no step. */
export const isUntaken = ({ members, snapshot: { memory } }: Situation, ordinal: number): boolean =>
  memory.waiting === null ||
  memory.waiting.includes(ordinal) ||
  // The member is back at its previous revision, in a different pod from the one that a step replaced.
  members.some(
    ({ facts, updated, ordinal: own }) =>
      own === ordinal && !updated && memory.taken.some((one) => one.ordinal === own && one.uid !== facts.uid),
  );

/**
 * Whether somebody else updated a member while it was held, and whether its mysqld has started at the update revision,
 * so that it may have upgraded its data. `null` if that has not happened. The status may not contain it yet.
 */
export function createdWhileHeld(situation: Situation, member: Member): 'created' | 'started' | null {
  const { waiting, createdWhileHeld: recorded } = situation.snapshot.memory;
  const { ordinal, updated, facts } = member;
  if (!updated) return null;
  const entry = recorded.find((one) => one.ordinal === ordinal);
  const isNew = waiting?.includes(ordinal) === true && keptBecause(situation, { ordinal, member }) !== null;
  if (entry === undefined && !isNew) return null;
  const mayHaveStarted = entry?.started === true || !hasNeverStarted(facts) || mayBeUpdated(situation, ordinal);
  return mayHaveStarted ? 'started' : 'created';
}

/** A step has deleted its pod to restore its previous revision, and no other pod exists yet. */
export const isRestoring = ({ members, snapshot: { memory } }: Situation, ordinal: number): boolean => {
  const pod = members.find((member) => member.ordinal === ordinal);
  return memory.taken.some(
    (one) => one.restores && one.ordinal === ordinal && (pod === undefined || pod.facts.uid === one.uid),
  );
};

/**
 * An updated member that comes back at its previous revision: a step restores it, or somebody else has updated it and
 * its mysqld has never started.
 */
const isToGetBack = (situation: Situation, { ordinal }: Member): boolean =>
  isRestoring(situation, ordinal) || (isUntaken(situation, ordinal) && !mayBeUpdated(situation, ordinal));

export function lostMembers(situation: Situation): readonly Lost[] {
  const { members, missing, snapshot } = situation;
  const isRolling = snapshot.memory.waiting !== null || members.some(({ updated }) => !updated);
  const going = members.filter(
    (member) =>
      isGoing(member) && (member.updated ? isToGetBack(situation, member) : isUntaken(situation, member.ordinal)),
  );
  const absent = missing.filter(
    (ordinal) => isRolling && (isUntaken(situation, ordinal) || isRestoring(situation, ordinal)),
  );
  return [
    ...going.map((member) => ({ ordinal: member.ordinal, member })),
    ...absent.map((ordinal) => ({ ordinal, member: null })),
  ];
}

/**
 * Why a member whose pod somebody else deleted must not come back updated: it is held, or no member has shown that the
 * revision works. `null` if it may come back updated.
 */
export function keptBecause(situation: Situation, { ordinal, member }: Lost): KeptBecause | null {
  const { policy, snapshot } = situation;
  if (policy.pinnedOrdinals.includes(ordinal)) return 'pinned';
  if (ordinal < policy.partition) return 'partition';
  const targets = member === null ? [] : [target(member)];
  const step: Step = { kind: 'delete', rule: 'MemberDown', targets };
  const hold = firstHold(situation, step, [{ kind: 'comesUpdated', member }]);
  if (hold !== null) return { rule: hold.rule };
  // The rules for the primary need its pod, which may not exist.
  if (ordinal === snapshot.cluster.primaryIndex) {
    if (pinnedBehind(situation).length > 0) return { rule: 'PrimaryWaitsForPinned' };
    if (policy.primaryUpdatePolicy === 'Manual' && !isApproved(situation)) return { rule: 'AwaitingApproval' };
  }
  if (!isVerified(situation)) return 'unverified';
  return policy.lostMembers === 'KeepRevision' ? 'setting' : null;
}

/**
 * The revision at which missing members have to come back: that of their own data, otherwise that of the data of the
 * existing members. An existing pod may be updated already although its mysqld has not started. The current revision is
 * preferred, then the most common one. `null` if no revision is known.
 */
export function revisionToKeep(situation: Situation, lost: readonly Lost[]): string | null {
  const { members, currentRevision, updateRevision } = situation;
  const revisionsOf = (some: readonly { readonly ordinal: number }[]): readonly string[] =>
    some
      .map(({ ordinal }) => dataOf(situation, ordinal)?.revision ?? '')
      .filter((revision) => revision !== '' && revision !== updateRevision);
  const ofLost = revisionsOf(lost);
  const revisions = ofLost.length > 0 ? ofLost : revisionsOf(members);
  if (revisions.includes(currentRevision)) return currentRevision;
  const count = (revision: string): number => revisions.filter((one) => one === revision).length;
  return revisions.toSorted((one, other) => count(other) - count(one))[0] ?? null;
}

/** A pod of the member may be created at the revision: its mysqld would not be older than the data. */
const mayComeBackAt = (situation: Situation, ordinal: number, revision: string): boolean =>
  isAt(situation, ordinal, revision) || (isRestoring(situation, ordinal) && mayGoBackTo(situation, ordinal, revision));

/** A pod that is about to be created may belong to a member whose data are newer. */
export function wouldSetBack(situation: Situation, revision: string): boolean {
  const { members, missing } = situation;
  const awaited = [...members.filter(isGoing).map(({ ordinal }) => ordinal), ...missing];
  return awaited.some((ordinal) => !mayComeBackAt(situation, ordinal, revision));
}

/**
 * The data of every member belong to that revision. So no member can start on data newer than its revision, no matter
 * how long new pods start at it, and even if this process dies meanwhile.
 */
export function suitsEveryMember(situation: Situation, revision: string): boolean {
  const { members, missing } = situation;
  return [...members.map(({ ordinal }) => ordinal), ...missing].every((ordinal) => isAt(situation, ordinal, revision));
}

/**
 * While other members have newer data, new pods start at this revision only while the pod of a missing member is about
 * to be created. A pod on an unresponsive node, or one that outlives its grace period, may exist for hours.
 */
export function isAboutToBeCreated(situation: Situation, { member }: Lost): boolean {
  if (member === null) return situation.snapshot.createFailure === null;
  return member.facts.phase === 'Failed' || endsInTime(situation, member);
}

const endsInTime = (situation: Situation, member: Member): boolean =>
  member.state === 'terminating' && !isStuckTerminating(situation, member);

/**
 * A step has replaced a member. Its next pod has to be created before new pods start at any other revision than the
 * update revision, or the member would be replaced twice. A missing member waits for that only if its own pod
 * disappears later.
 */
export function awaitsOwnPod(situation: Situation, lost: readonly Lost[]): boolean {
  const { members, missing } = situation;
  if (lost.some(({ member }) => member === null || member.facts.phase === 'Failed')) return false;
  const longest = Math.max(0, ...lost.map(({ member }) => member?.facts.terminatingForSeconds ?? 0));
  const isOwn = (ordinal: number): boolean => !isUntaken(situation, ordinal) && !isRestoring(situation, ordinal);
  const goesBefore = (member: Member): boolean =>
    (member.facts.terminatingForSeconds ?? -1) >= longest && endsInTime(situation, member);
  return (
    missing.some(isOwn) || members.some((member) => !member.updated && isOwn(member.ordinal) && goesBefore(member))
  );
}

/** The revision at which the member comes back, or has come back, if somebody else deleted its pod. For people. */
export function recreated(situation: Situation, ordinal: number): Recreated | null {
  const { members, policy } = situation;
  if (policy.mode !== 'OnDelete' || !isAdopted(situation.snapshot.statefulSet)) return null;
  const lost = lostMembers(situation).find((one) => one.ordinal === ordinal);
  if (lost !== undefined) {
    const because = keptBecause(situation, lost);
    if (because === null) return isRestoring(situation, ordinal) ? null : { as: 'updated', because };
    const despite = unkeepable(situation, lost);
    return despite === null ? { as: 'before', because } : { as: 'updated', because, despite };
  }
  const member = members.find((one) => one.ordinal === ordinal);
  const despite = member === undefined ? null : createdWhileHeld(situation, member);
  const because = member === undefined ? null : keptBecause(situation, { ordinal, member });
  return because === null || despite === null ? null : { as: 'updated', because, despite };
}

/** Why the member cannot come back at its previous revision, or `null`. */
function unkeepable(situation: Situation, lost: Lost): 'setsBack' | 'data' | 'admission' | null {
  const revision = revisionToKeep(situation, [lost]);
  if (revision === null || dataOf(situation, lost.ordinal) === null) return 'data';
  if (wouldSetBack(situation, revision)) return 'setsBack';
  if (!suitsEveryMember(situation, revision) && !isAboutToBeCreated(situation, lost)) return 'setsBack';
  return mayKeepRevisions(situation) || keepsRevisions(situation.snapshot.statefulSet) ? null : 'admission';
}
