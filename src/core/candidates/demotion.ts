import type { ProcedureLine } from '../decision.ts';
import { firstHold } from '../gates.ts';
import { unsettledRoles } from '../rules/roles.ts';
import { dueMembers, type Member, type Situation, target } from '../situation.ts';
import type { Step, UndemoteReason } from '../step.ts';

/**
 * Takes back a `demote` with our mark once its reason is gone. Left on the pod, it would demote that pod again as soon
 * as it became primary. `Healthy`, readiness and budgets are not checked again, since a switchover itself changes them.
 */
export const takeBackDemotion: ProcedureLine = {
  takes: 'our mark on a pod that is not terminating, and a reason from the list below: undemote',
  candidates: (situation) =>
    situation.members.flatMap((member): readonly Step[] => {
      if (member.facts.demotedFor === null || member.state === 'terminating') return [];
      const reason = takeBackReason(situation, member);
      if (reason === null) return [];
      return [{ kind: 'undemote', targets: [target(member)], reason, demoted: member.facts.demote }];
    }),
};

function takeBackReason(situation: Situation, member: Member): string | null {
  const reason = noReason(situation, member);
  if (reason !== null) return reason;
  const { policy, deadlines } = situation;
  const hold = standingHold(situation, member);
  if (!member.facts.demote) {
    return hold === null && isNext(situation, member) ? null : ('MarkWithoutDemote' satisfies UndemoteReason);
  }
  const timedOut = deadlines.reached(member.facts.demoteForSeconds, policy.switchoverTimeoutSeconds);
  if (member.primary) return hold ?? (timedOut ? ('TimedOut' satisfies UndemoteReason) : null);
  // MOCO removes it itself at the end of the switchover. Two writers would only conflict.
  const finishing = hold === null && !timedOut && unsettledRoles(situation) !== null;
  return finishing ? null : ('NoLongerPrimary' satisfies UndemoteReason);
}

/** The primary carries a demotion that it no longer needs. */
function noReason(situation: Situation, member: Member): UndemoteReason | null {
  const { policy, updateRevision } = situation;
  if (!member.facts.demote || !member.primary) return null;
  if (policy.mode !== 'OnDelete') return 'StrategyChanged';
  if (!isUpdateRevisionKnown(situation)) return null;
  if (!member.due || member.facts.demotedFor !== updateRevision) return 'NotDue';
  return dueMembers(situation).length > 1 ? 'OthersDue' : null;
}

/** A rule that ends a demotion already in progress. */
function standingHold(situation: Situation, member: Member): string | null {
  const step: Step = { kind: 'demote', rule: 'PrimaryLast', targets: [target(member)], revision: '' };
  return firstHold(situation, step, [{ kind: 'keepsDemotion', member }])?.rule ?? null;
}

/**
 * No other member is due, so the mark disappears with the pod. If the pod still seems to be primary, there are two
 * cases: MOCO has just written the index, which it does right before it removes `demote`, or the pod is being demoted
 * again, which renews the mark.
 */
function isNext(situation: Situation, { due, facts }: Member): boolean {
  const { policy, updateRevision } = situation;
  if (!isUpdateRevisionKnown(situation)) return policy.mode === 'OnDelete';
  const isForThis = facts.demotedFor === updateRevision;
  return policy.mode === 'OnDelete' && due && isForThis && dueMembers(situation).length === 1;
}

/** Until Kubernetes has observed the newest template, the update revision is unknown, and with it the due members. */
const isUpdateRevisionKnown = ({ snapshot: { statefulSet } }: Situation): boolean =>
  statefulSet !== null && !statefulSet.deleting && statefulSet.observed && statefulSet.updateRevision !== '';
