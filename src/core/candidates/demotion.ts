import type { ProcedureLine } from '../decision.ts';
import { firstHold, type Guards, guards } from '../gates.ts';
import { movesPrimaryOff } from '../node-maintenance.ts';
import { rulesOf } from '../rules/catalogue.ts';
import { unsettledRoles } from '../rules/roles.ts';
import { dueMembers, type Member, type Situation, target } from '../situation.ts';
import { markOfLeavingNode, type Step, type UndemoteReason } from '../step.ts';

/**
 * Removes the annotation `demote` and our mark once the reason for the demotion is gone. If `demote` stayed on the pod,
 * MOCO would demote that pod again as soon as it became primary. `Healthy`, readiness and budgets are not checked
 * again, because a switchover itself changes them.
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
  // MOCO removes `demote` itself at the end of the switchover. If this program removed `demote` too, the two writes
  // would conflict.
  const finishing = hold === null && !timedOut && unsettledRoles(situation) !== null;
  return finishing ? null : ('NoLongerPrimary' satisfies UndemoteReason);
}

/** Why the primary no longer needs its annotation `demote`; `null` if it still needs the annotation, or has none. */
function noReason(situation: Situation, member: Member): UndemoteReason | null {
  const { policy, updateRevision } = situation;
  if (!member.facts.demote || !member.primary) return null;
  if (policy.mode !== 'OnDelete') return 'StrategyChanged';
  if (member.facts.demotedFor === markOfLeavingNode) return movesPrimaryOff(situation, member) ? null : 'NodeStays';
  if (!isUpdateRevisionKnown(situation)) return null;
  if (!member.due || member.facts.demotedFor !== updateRevision) return 'NotDue';
  return dueMembers(situation).length > 1 ? 'OthersDue' : null;
}

/** The rule, if any, that ends a demotion already in progress. */
function standingHold(situation: Situation, member: Member): string | null {
  const mark = member.facts.demotedFor ?? '';
  const rule = mark === markOfLeavingNode ? 'NodeLeaving' : 'PrimaryLast';
  const step: Step = { kind: 'demote', rule, targets: [target(member)], mark };
  const by = rule === 'NodeLeaving' ? withoutFailing() : guards;
  return firstHold(situation, step, [{ kind: 'keepsDemotion', member }], by)?.rule ?? null;
}

/** A failing revision does not keep the primary on its node: no pod gets the revision when the primary leaves. */
const withoutFailing = (): Guards => new Map([...guards].filter(([rule]) => !rulesOf('failing').includes(rule)));

/**
 * Whether the member is the only one that is still due, so that the mark disappears with its pod. If the pod still
 * seems to be primary, there are two cases: either MOCO has just written `currentPrimaryIndex` and is about to remove
 * `demote`, or the pod is being demoted again, which renews the mark.
 */
function isNext(situation: Situation, { due, facts }: Member): boolean {
  const { policy, updateRevision } = situation;
  if (facts.demotedFor === markOfLeavingNode) return false;
  if (!isUpdateRevisionKnown(situation)) return policy.mode === 'OnDelete';
  const isForThis = facts.demotedFor === updateRevision;
  return policy.mode === 'OnDelete' && due && isForThis && dueMembers(situation).length === 1;
}

/** Until Kubernetes has observed the newest template, neither the update revision nor the due members are known. */
const isUpdateRevisionKnown = ({ snapshot: { statefulSet } }: Situation): boolean =>
  statefulSet !== null && !statefulSet.deleting && statefulSet.observed && statefulSet.updateRevision !== '';
