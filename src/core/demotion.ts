import { awaitingApproval, primaryWaitsForHeld } from './approval.ts';
import type { Hold, TakeBackReason } from './decision.ts';
import { failingRevision } from './failing-revision.ts';
import { holdEverythingButRepairsLasting, holdEverythingLasting, isRevisionKnown } from './holds.ts';
import { stuckTerminating } from './leaving.ts';
import { dueMembers, type Member, type Outcome, type Situation, take, target } from './situation.ts';

/**
 * A `demote` that carries our mark ends with its reason: left on a pod it would demote that pod again the moment it
 * is promoted. `Healthy`, readiness and budgets are not asked again, since a switchover closes them by itself.
 */
export function takeBackDemotion(situation: Situation): Outcome | null {
  for (const member of situation.members) {
    if (member.facts.demotedFor === null || member.state === 'leaving') continue;
    const reason = takeBackReason(situation, member);
    if (reason !== null) {
      return take({ kind: 'undemote', targets: [target(member)], reason, demoted: member.facts.demote });
    }
  }
  return null;
}

function takeBackReason(situation: Situation, member: Member): TakeBackReason | null {
  const { snapshot, policy, deadlines } = situation;
  const hold =
    holdEverythingLasting(situation) ?? failingRevision(situation) ?? holdEverythingButRepairsLasting(situation);
  const isKnown = isRevisionKnown(situation);
  if (!member.facts.demote) return hold === null && isNext(situation, member) ? null : 'MarkAlone';
  const timedOut = deadlines.reached(member.facts.demoteForSeconds, policy.switchoverTimeoutSeconds);
  if (!member.primary) {
    // MOCO takes it away itself as the last part of the switchover; two writers would only stop each other.
    const finishing = hold === null && !timedOut && rolesNotSettled(situation) !== null;
    return finishing ? null : 'NoLongerPrimary';
  }
  if (policy.mode !== 'OnDelete') return 'StrategyChanged';
  if (isKnown) {
    if (!member.due || member.facts.demotedFor !== snapshot.statefulSet?.updateRevision) return 'NotDue';
    if (dueMembers(situation).length > 1) return 'OthersDue';
  }
  const consent = isKnown ? (awaitingApproval(situation, member) ?? primaryWaitsForHeld(situation, member)) : null;
  return (hold ?? consent)?.rule ?? (timedOut ? 'TimedOut' : null);
}

/**
 * Nobody else is due: what is left on its pod goes with it. Where it seems to be primary still, the index is on its way,
 * which MOCO writes right before it takes `demote` away; or the pod is demoted again, which renews the mark.
 */
function isNext(situation: Situation, { due, facts }: Member): boolean {
  const { policy, snapshot } = situation;
  if (!isRevisionKnown(situation)) return policy.mode === 'OnDelete';
  const isForThis = facts.demotedFor === snapshot.statefulSet?.updateRevision;
  return policy.mode === 'OnDelete' && due && isForThis && dueMembers(situation).length === 1;
}

/**
 * A switchover is under way or has not been finished by MOCO, which moves the index first, then re-points the
 * replicas, sets the role labels and only then lets writes in. Nothing that needs a quorum is done meanwhile.
 */
export function rolesMoving(situation: Situation): Hold | null {
  return switchoverUnderWay(situation) ?? rolesNotSettled(situation);
}

function switchoverUnderWay(situation: Situation): Hold | null {
  const { primary, policy, deadlines } = situation;
  if (primary === null) return null;
  const { facts, ordinal } = primary;
  if (primary.state === 'leaving') {
    return stuckTerminating(situation, primary) ?? { rule: 'SwitchoverInProgress', member: ordinal, leaving: true };
  }
  if (!facts.demote) return null;
  if (facts.demotedFor !== null) {
    return { rule: 'AwaitingSwitchover', member: ordinal, timeoutSeconds: policy.switchoverTimeoutSeconds };
  }
  return deadlines.reached(facts.demoteForSeconds, policy.switchoverTimeoutSeconds)
    ? null
    : { rule: 'SwitchoverInProgress', member: ordinal, leaving: false };
}

function rolesNotSettled({ members, primary, snapshot, policy, deadlines }: Situation): Hold | null {
  const unsettled = members.filter((member) => member.participates && !member.settled);
  if (unsettled.length > 0) return { rule: 'RolesNotSettled', members: unsettled.map((member) => member.ordinal) };
  if (snapshot.cluster.available || !primary?.participates) return null;
  return deadlines.reached(snapshot.cluster.primarySettledForSeconds ?? 0, policy.failoverGraceSeconds)
    ? null
    : { rule: 'RolesNotSettled', members: [primary.ordinal], unavailable: true };
}

/** Somebody else's `demote`: on the primary one that moves nothing, on a replica one that waits for its promotion. */
export function foreignDemote({ members, policy, deadlines, overridden }: Situation): Hold | null {
  if (overridden.has('ForeignDemote')) return null;
  for (const member of members) {
    const { demote, demotedFor, demoteForSeconds } = member.facts;
    if (!demote || demotedFor !== null || member.state === 'leaving') continue;
    if (!member.primary || deadlines.reached(demoteForSeconds, policy.switchoverTimeoutSeconds)) {
      return { rule: 'ForeignDemote', member: member.ordinal };
    }
  }
  return null;
}
