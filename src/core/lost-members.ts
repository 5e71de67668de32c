import { isAdopted, keepsRevisions, mayKeepRevisions } from './adoption.ts';
import { dataOf, hasNoData, mayBeUpdated, mayGoBackTo, suits } from './data.ts';
import { isVerified } from './failing-revision.ts';
import { firstHold, isOverridden } from './gates.ts';
import { hasNeverStarted } from './member.ts';
import { cannotReadLogOfMissing, refusesDataOfMissing } from './mysqld-data.ts';
import { isStuckTerminating } from './rules/unavailable.ts';
import type { KeptBecause, Recreated } from './sentences.ts';
import { isApproved, type Member, pinnedBehind, type Situation, target } from './situation.ts';
import type { TakenPod } from './snapshot.ts';
import type { Step } from './step.ts';

// Members with pods that are recreated without a step of the rollout.

/**
 * A member with a pod that is terminating or gone without a step of the rollout. The member comes back at its previous
 * revision if possible.
 */
export interface Lost {
  readonly ordinal: number;
  /** `null` if the member has no pod. */
  readonly member: Member | null;
}

export const isGoing = ({ state, facts }: Member): boolean =>
  state === 'terminating' || state === 'unreachable' || facts.phase === 'Failed';

/**
 * No step has replaced the member's pod. If the status does not record which members wait, as after a time in another
 * mode, only the pods that steps have replaced are known.
 */
export function isUntaken(situation: Situation, ordinal: number): boolean {
  const { members, snapshot } = situation;
  const { waiting, taken } = snapshot.memory;
  if (waiting?.includes(ordinal) ?? podsTaken(situation, ordinal).every(({ restores }) => restores)) return true;
  // The member has a different pod from the one that a step replaced, and is back at its previous revision.
  return members.some(
    ({ facts, updated, ordinal: own }) =>
      own === ordinal && !updated && taken.some((one) => one.ordinal === own && one.uid !== facts.uid),
  );
}

/** The records of steps that have deleted the member's pod, as long as its next pod does not exist. */
function podsTaken({ members, snapshot: { memory } }: Situation, ordinal: number): readonly TakenPod[] {
  const pod = members.find((member) => member.ordinal === ordinal);
  return memory.taken.filter((one) => one.ordinal === ordinal && (pod === undefined || pod.facts.uid === one.uid));
}

/**
 * Whether another program or a person updated a member while it was held. `started` means that the mysqld of the update
 * revision has started and may have upgraded the data. `null` if the member was not updated that way. The status may
 * not contain the event yet.
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

/**
 * A step has deleted the member's pod to restore the member's previous revision, and the next pod does not exist yet.
 */
export const isRestoring = (situation: Situation, ordinal: number): boolean =>
  podsTaken(situation, ordinal).some(({ restores }) => restores);

/**
 * Whether the member has never had a pod, because the cluster is being scaled up. So no step and no other client has
 * deleted its pod, and its first pod may have any revision.
 */
export const isNew = (situation: Situation, ordinal: number): boolean => {
  const { waiting, taken } = situation.snapshot.memory;
  const isKnown = waiting?.includes(ordinal) === true || taken.some((one) => one.ordinal === ordinal);
  return !isKnown && hasNoData(situation, ordinal);
};

/**
 * Whether an updated member comes back at its previous revision. Either a step restores the member, or another program
 * or a person has updated it and the mysqld of the update revision has never started.
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
    (ordinal) =>
      isRolling && !isNew(situation, ordinal) && (isUntaken(situation, ordinal) || isRestoring(situation, ordinal)),
  );
  return [
    ...going.map((member) => ({ ordinal: member.ordinal, member })),
    ...absent.map((ordinal) => ({ ordinal, member: null })),
  ];
}

/**
 * Why a member must not come back updated after another program or a person deleted its pod: the member is held, or no
 * member has shown that the revision works. `null` if the member may come back updated.
 */
export function keptBecause(situation: Situation, { ordinal, member }: Lost): KeptBecause | null {
  const { policy, snapshot } = situation;
  if (policy.pinnedOrdinals.includes(ordinal)) return 'pinned';
  if (ordinal < policy.partition) return 'partition';
  const targets = member === null ? [] : [target(member)];
  const step: Step = { kind: 'delete', rule: 'MemberDown', targets };
  const hold = firstHold(situation, step, [{ kind: 'comesUpdated', member }]);
  if (hold !== null) return { rule: hold.rule };
  const rule = member === null ? refusalOfMissing(situation, ordinal) : null;
  if (rule !== null) return { rule };
  // The rules about the primary need its pod, which may not exist here.
  if (ordinal === snapshot.cluster.primaryIndex) {
    if (pinnedBehind(situation).length > 0) return { rule: 'PrimaryWaitsForPinned' };
    if (policy.primaryUpdatePolicy === 'Manual' && !isApproved(situation)) return { rule: 'AwaitingApproval' };
  }
  if (!isVerified(situation)) return 'unverified';
  return policy.lostMembers === 'KeepRevision' ? 'setting' : null;
}

/**
 * Rules evaluate members with a pod. Without a pod, only the record of the data shows whether mysqld could open them.
 */
function refusalOfMissing(situation: Situation, ordinal: number): 'VersionRefused' | 'RedoLogOpen' | null {
  if (refusesDataOfMissing(situation, ordinal) && !isOverridden(situation, 'VersionRefused')) return 'VersionRefused';
  return cannotReadLogOfMissing(situation, ordinal) && !isOverridden(situation, 'RedoLogOpen') ? 'RedoLogOpen' : null;
}

/**
 * The revision at which missing members have to come back: the revision of their own data or, if that is unknown, the
 * revision of the existing members' data. The data count, not the pod, because a pod may be updated although its mysqld
 * has not started. The current revision is preferred, then the most common one. `null` if no revision is known.
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

/** Whether the member may get a pod at the revision: the pod's mysqld must not be older than the data. */
const mayComeBackAt = (situation: Situation, ordinal: number, revision: string): boolean =>
  suits(situation, ordinal, revision) || (isRestoring(situation, ordinal) && mayGoBackTo(situation, ordinal, revision));

/** Whether a pod is about to be created for a member with data that are newer than the revision. */
export function wouldSetBack(situation: Situation, revision: string): boolean {
  const { members, missing } = situation;
  const awaited = [...members.filter(isGoing).map(({ ordinal }) => ordinal), ...missing];
  return awaited.some((ordinal) => !mayComeBackAt(situation, ordinal, revision));
}

/**
 * Whether the data of every member belong to the revision, or the member has none yet. Then no member can start on data
 * newer than its own revision, no matter how long new pods start at the revision, and even if this process dies
 * meanwhile.
 */
export function suitsEveryMember(situation: Situation, revision: string): boolean {
  const { members, missing } = situation;
  return [...members.map(({ ordinal }) => ordinal), ...missing].every((ordinal) => suits(situation, ordinal, revision));
}

/**
 * Whether the pod of a missing member is about to be created. If other members have newer data, new pods start at this
 * revision only for that short time. A pod on an unresponsive node, or a pod that outlives its grace period, may exist
 * for hours.
 */
export function isAboutToBeCreated(situation: Situation, { member }: Lost): boolean {
  if (member === null) return situation.snapshot.createFailure === null;
  return member.facts.phase === 'Failed' || endsInTime(situation, member);
}

const endsInTime = (situation: Situation, member: Member): boolean =>
  member.state === 'terminating' && !isStuckTerminating(situation, member);

/**
 * Whether a step has replaced another member that still lacks its next pod. That pod has to be created before new pods
 * start at any revision other than the update revision; otherwise the member would be replaced twice. A lost member
 * waits for that pod only if its own pod disappears later.
 */
export function awaitsOwnPod(situation: Situation, lost: readonly Lost[]): boolean {
  const { members, missing } = situation;
  if (lost.some(({ member }) => member === null || member.facts.phase === 'Failed')) return false;
  const longest = Math.max(0, ...lost.map(({ member }) => member?.facts.terminatingForSeconds ?? 0));
  const isOwn = (ordinal: number): boolean =>
    !isUntaken(situation, ordinal) && !isRestoring(situation, ordinal) && !isNew(situation, ordinal);
  const goesBefore = (member: Member): boolean =>
    (member.facts.terminatingForSeconds ?? -1) >= longest && endsInTime(situation, member);
  return (
    missing.some(isOwn) || members.some((member) => !member.updated && isOwn(member.ordinal) && goesBefore(member))
  );
}

/**
 * The revision at which the member comes back, or has come back, after its pod was deleted by a restore, by another
 * program or by a person. Otherwise `null`. Also `null` while the cluster is offline, because a person has asked for
 * the missing pods. The result is only shown to people.
 */
export function recreated(situation: Situation, ordinal: number): Recreated | null {
  const { members, policy, snapshot } = situation;
  if (policy.mode !== 'OnDelete' || !isAdopted(snapshot.statefulSet)) return null;
  const lost = lostMembers(situation).find((one) => one.ordinal === ordinal);
  if (lost !== undefined) {
    if (snapshot.cluster.offline && lost.member?.updated !== true) return null;
    const isRestored = isRestoring(situation, ordinal);
    const because = keptBecause(situation, lost);
    if (because === null) return isRestored ? null : { as: 'updated', because };
    const despite = unkeepable(situation, lost);
    const restored = isRestored && ({ restored: true } as const);
    return { ...(despite === null ? { as: 'before', because } : { as: 'updated', because, despite }), ...restored };
  }
  const member = members.find((one) => one.ordinal === ordinal);
  const despite = member === undefined ? null : createdWhileHeld(situation, member);
  if (member === undefined || despite === null) return null;
  const because = keptBecause(situation, { ordinal, member });
  return because === null ? null : { as: 'updated', because, despite };
}

/** Why the member cannot come back at its previous revision; `null` if it can. */
function unkeepable(situation: Situation, lost: Lost): 'setsBack' | 'data' | 'admission' | null {
  const revision = revisionToKeep(situation, [lost]);
  const isUnknown = dataOf(situation, lost.ordinal) === null && !hasNoData(situation, lost.ordinal);
  if (revision === null || isUnknown) return 'data';
  if (wouldSetBack(situation, revision)) return 'setsBack';
  if (!suitsEveryMember(situation, revision) && !isAboutToBeCreated(situation, lost)) return 'setsBack';
  return mayKeepRevisions(situation) || keepsRevisions(situation.snapshot.statefulSet) ? null : 'admission';
}
