import { isAdopted, keepsRevisions, mayKeepRevisions } from './adoption.ts';
import { isVerified } from './failing-revision.ts';
import { firstHold } from './gates.ts';
import { hasNeverStarted } from './member.ts';
import type { KeptBecause, Recreated } from './sentences.ts';
import { isApproved, type Member, pinnedBehind, type Situation, target } from './situation.ts';
import type { Step } from './step.ts';

// Members whose pods are created again without a step of the rollout.

/** A member that comes back as what it was: its pod is going, or has gone, and no step of the rollout has taken it. */
export interface Lost {
  readonly ordinal: number;
  /** `null` if its pod does not exist. */
  readonly member: Member | null;
}

export const isGoing = ({ state, facts }: Member): boolean =>
  state === 'terminating' || state === 'unreachable' || facts.phase === 'Failed';

/** No step has taken the member's pod. Without a record of the rollout there was none. */
export const isUntaken = ({ members, snapshot: { memory } }: Situation, ordinal: number): boolean =>
  memory.waiting === null ||
  memory.waiting.includes(ordinal) ||
  // It is back as what it was, in another pod than the one that a step has taken.
  members.some(
    ({ facts, updated, ordinal: own }) =>
      own === ordinal && !updated && memory.taken.some((one) => one.ordinal === own && one.uid !== facts.uid),
  );

/**
 * Whether somebody else has updated a member that was held, and whether its mysqld has started at the update revision:
 * then it may have upgraded its data. `null` if no such thing has happened. The status may not have it yet.
 */
export function createdWhileHeld(situation: Situation, member: Member): 'created' | 'started' | null {
  const { waiting, createdWhileHeld: recorded } = situation.snapshot.memory;
  const { ordinal, updated, facts } = member;
  if (!updated) return null;
  const entry = recorded.find((one) => one.ordinal === ordinal);
  const isNew = waiting?.includes(ordinal) === true && keptBecause(situation, { ordinal, member }) !== null;
  if (entry === undefined && !isNew) return null;
  return entry?.started === true || !hasNeverStarted(facts) ? 'started' : 'created';
}

/** A step has deleted its pod, so that it comes back as what it was, and there is no other pod yet. */
export const isRestoring = ({ members, snapshot: { memory } }: Situation, ordinal: number): boolean => {
  const pod = members.find((member) => member.ordinal === ordinal);
  return memory.taken.some(
    (one) => one.restores && one.ordinal === ordinal && (pod === undefined || pod.facts.uid === one.uid),
  );
};

export function lostMembers(situation: Situation): readonly Lost[] {
  const { members, missing, snapshot } = situation;
  const isRolling = snapshot.memory.waiting !== null || members.some(({ updated }) => !updated);
  const going = members.filter(
    (member) =>
      isGoing(member) &&
      (member.updated ? isRestoring(situation, member.ordinal) : isUntaken(situation, member.ordinal)),
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
 * Why a member whose pod somebody else has taken may not come back updated: it is held, or nobody has shown that the
 * revision works. `null` if it may.
 */
export function keptBecause(situation: Situation, { ordinal, member }: Lost): KeptBecause | null {
  const { policy, snapshot } = situation;
  if (policy.pinnedOrdinals.includes(ordinal)) return 'pinned';
  if (ordinal < policy.partition) return 'partition';
  const targets = member === null ? [] : [target(member)];
  const step: Step = { kind: 'delete', rule: 'MemberDown', targets };
  const hold = firstHold(situation, step, [{ kind: 'comesUpdated', member }]);
  if (hold !== null) return { rule: hold.rule };
  // The rules for the primary ask for its pod, which may not exist.
  if (ordinal === snapshot.cluster.primaryIndex) {
    if (pinnedBehind(situation).length > 0) return { rule: 'PrimaryWaitsForPinned' };
    if (policy.primaryUpdatePolicy === 'Manual' && !isApproved(situation)) return { rule: 'AwaitingApproval' };
  }
  if (!isVerified(situation)) return 'unverified';
  return policy.lostMembers === 'KeepRevision' ? 'setting' : null;
}

/**
 * Its server may have upgraded its data at the update revision, so it never goes back by itself. Until one member has
 * verified the revision, none counts as working: it goes back with the cluster, as under a partition.
 */
export const mayHaveWorked = (situation: Situation, member: Member): boolean =>
  member.updated && isVerified(situation) && !hasNeverStarted(member.facts);

/**
 * Of the pods that are about to be created at least one may be that of a member that has worked at the update revision.
 */
export function wouldSetBack(situation: Situation): boolean {
  const { members, missing } = situation;
  const isTaken = (ordinal: number): boolean => !isUntaken(situation, ordinal) && !isRestoring(situation, ordinal);
  return (
    members.some(
      (member) => isGoing(member) && mayHaveWorked(situation, member) && !isRestoring(situation, member.ordinal),
    ) ||
    (isVerified(situation) && missing.some(isTaken))
  );
}

/**
 * The revision that lost members had: that of their pods, unless these are to be restored, else that of the stale
 * members. The current one is preferred, then the most common.
 */
export function revisionToKeep(situation: Situation, lost: readonly Lost[]): string | null {
  const { members, snapshot, currentRevision, updateRevision } = situation;
  const going = lost.flatMap(({ member }) =>
    member === null || member.updated || isRestoring(situation, member.ordinal) ? [] : [member],
  );
  const stale = going.length > 0 ? going : members.filter(({ updated }) => !updated);
  const had = stale.length > 0 ? stale.map(({ facts }) => facts.revision) : [snapshot.memory.from ?? ''];
  const revisions = had.filter((revision) => revision !== '' && revision !== updateRevision);
  if (revisions.includes(currentRevision)) return currentRevision;
  const count = (revision: string): number => revisions.filter((one) => one === revision).length;
  return revisions.toSorted((one, other) => count(other) - count(one))[0] ?? null;
}

/** What the member comes back as, or has come back as, if somebody else has taken its pod. For people. */
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

/** Why the member can't come back as what it was, or `null`. */
function unkeepable(situation: Situation, lost: Lost): 'setsBack' | 'revision' | 'admission' | null {
  if (wouldSetBack(situation)) return 'setsBack';
  const revision = revisionToKeep(situation, [lost]);
  if (revision === null || (lost.member !== null && lost.member.facts.revision !== revision)) return 'revision';
  return mayKeepRevisions(situation) || keepsRevisions(situation.snapshot.statefulSet) ? null : 'admission';
}
