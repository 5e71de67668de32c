import { awaitingApproval, primaryWaitsForPinned } from './approval.ts';
import type { Hold } from './decision.ts';
import { failingRevision } from './failing-revision.ts';
import { holdEverythingButRepairsLasting, holdEverythingLasting, isRevisionKnown } from './holds.ts';
import type { UndemoteReason } from './rules/steps.ts';
import { dueMembers, type Member, type Outcome, type Situation, take, target } from './situation.ts';
import { stuckTerminating } from './terminating.ts';

/**
 * Takes back a `demote` with our mark once its reason is gone. Left on the pod, it would demote that pod again as soon
 * as it became primary. `Healthy`, readiness and budgets are not checked again, since a switchover itself changes them.
 */
export function takeBackDemotion(situation: Situation): Outcome | null {
  for (const member of situation.members) {
    if (member.facts.demotedFor === null || member.state === 'terminating') continue;
    const reason = takeBackReason(situation, member);
    if (reason !== null) {
      return take({ kind: 'undemote', targets: [target(member)], reason, demoted: member.facts.demote });
    }
  }
  return null;
}

function takeBackReason(situation: Situation, member: Member): UndemoteReason | null {
  const { snapshot, policy, deadlines } = situation;
  const hold =
    holdEverythingLasting(situation) ?? failingRevision(situation) ?? holdEverythingButRepairsLasting(situation);
  const isKnown = isRevisionKnown(situation);
  if (!member.facts.demote) return hold === null && isNext(situation, member) ? null : 'MarkWithoutDemote';
  const timedOut = deadlines.reached(member.facts.demoteForSeconds, policy.switchoverTimeoutSeconds);
  if (!member.primary) {
    // MOCO removes it itself at the end of the switchover. Two writers would only conflict.
    const finishing = hold === null && !timedOut && rolesNotSettled(situation) !== null;
    return finishing ? null : 'NoLongerPrimary';
  }
  if (policy.mode !== 'OnDelete') return 'StrategyChanged';
  if (isKnown) {
    if (!member.due || member.facts.demotedFor !== snapshot.statefulSet?.updateRevision) return 'NotDue';
    if (dueMembers(situation).length > 1) return 'OthersDue';
  }
  const consent = isKnown ? (awaitingApproval(situation, member) ?? primaryWaitsForPinned(situation, member)) : null;
  return (hold ?? consent)?.rule ?? (timedOut ? 'TimedOut' : null);
}

/**
 * No other member is due, so the mark goes with the pod. If the pod still seems to be primary, either MOCO has just
 * written the index, which it does right before it removes `demote`, or the pod is demoted again, which renews the
 * mark.
 */
function isNext(situation: Situation, { due, facts }: Member): boolean {
  const { policy, snapshot } = situation;
  if (!isRevisionKnown(situation)) return policy.mode === 'OnDelete';
  const isForThis = facts.demotedFor === snapshot.statefulSet?.updateRevision;
  return policy.mode === 'OnDelete' && due && isForThis && dueMembers(situation).length === 1;
}

/**
 * A switchover is under way. MOCO moves the index first, then points the replicas to the new primary, sets the role
 * labels and lets writes in last. Until then no step that needs a quorum is done.
 */
export function rolesMoving(situation: Situation): Hold | null {
  return switchoverUnderWay(situation) ?? rolesNotSettled(situation);
}

function switchoverUnderWay(situation: Situation): Hold | null {
  const { primary, policy, deadlines } = situation;
  if (primary === null) return null;
  const { facts, ordinal } = primary;
  if (primary.state === 'terminating') {
    return stuckTerminating(situation, primary) ?? { rule: 'SwitchoverInProgress', member: ordinal, terminating: true };
  }
  if (!facts.demote) return null;
  if (facts.demotedFor !== null) {
    return { rule: 'AwaitingSwitchover', member: ordinal, timeoutSeconds: policy.switchoverTimeoutSeconds };
  }
  return deadlines.reached(facts.demoteForSeconds, policy.switchoverTimeoutSeconds)
    ? null
    : { rule: 'SwitchoverInProgress', member: ordinal, terminating: false };
}

function rolesNotSettled({ members, primary, snapshot, policy, deadlines }: Situation): Hold | null {
  const unsettled = members.filter((member) => member.participates && !member.settled);
  if (unsettled.length > 0) return { rule: 'RolesNotSettled', members: unsettled.map((member) => member.ordinal) };
  if (snapshot.cluster.available || !primary?.participates) return null;
  return deadlines.reached(snapshot.cluster.primarySettledForSeconds ?? 0, policy.failoverGraceSeconds)
    ? null
    : { rule: 'RolesNotSettled', members: [primary.ordinal], unavailable: true };
}

/**
 * A `demote` that this controller did not set. On the primary it has had no effect; on a replica it takes effect at its
 * promotion.
 */
export function foreignDemote({ members, policy, deadlines, overridden }: Situation): Hold | null {
  if (overridden.has('ForeignDemote')) return null;
  for (const member of members) {
    const { demote, demotedFor, demoteForSeconds } = member.facts;
    if (!demote || demotedFor !== null || member.state === 'terminating') continue;
    if (!member.primary || deadlines.reached(demoteForSeconds, policy.switchoverTimeoutSeconds)) {
      return { rule: 'ForeignDemote', member: member.ordinal };
    }
  }
  return null;
}
