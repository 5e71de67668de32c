import { awaitingApproval, isApproved, primaryWaitsForHeld } from './approval.ts';
import type { Hold } from './decision.ts';
import { backupRunning, batchNotComplete, budgetUsed, closedGate, updatedMemberOwes } from './gates.ts';
import { memberLeaving } from './leaving.ts';
import { remove } from './not-participating.ts';
import { isProtected, memberProtected } from './protected.ts';
import {
  descending,
  dueMembers,
  everyOtherParticipates,
  type Member,
  type Outcome,
  type Situation,
  take,
  target,
  wait,
} from './situation.ts';

// Due members that participate: the impaired ones, then the healthy replicas, then the primary.

export function updatedMembersSettle(situation: Situation): Outcome | null {
  const hold = updatedMemberOwes(situation);
  return hold ? wait(hold) : null;
}

/**
 * An update may be what repairs a sidecar, and the budget would refuse, counting the pod as away already. The primary
 * goes without a demotion: MOCO doesn't switch over from a cluster that it sees as incomplete.
 */
export function membersImpaired(situation: Situation): Outcome | null {
  const impaired = descending(dueMembers(situation).filter((member) => member.state === 'impaired'));
  const free = impaired.filter((member) => !isProtected(member));
  const next = free.find((member) => !member.primary) ?? free[0] ?? impaired[0];
  if (!next) return null;
  const hold =
    memberLeaving(situation) ??
    (everyOtherParticipates(situation, next) ? null : budgetUsed(situation, 1)) ??
    backupRunning(situation) ??
    memberProtected(next);
  return hold ? wait(hold) : remove('MemberImpaired', [next]);
}

export function healthyReplicas(situation: Situation): Outcome | null {
  const due = descending(dueMembers(situation).filter((member) => !member.primary));
  const next = due.find((member) => !isProtected(member)) ?? due[0];
  if (!next) return null;
  const hold = closedGate(situation) ?? memberProtected(next) ?? batchNotComplete(situation, next);
  return hold ? wait(hold) : take({ kind: 'evict', rule: 'ReplicaHealthy', targets: [target(next)] });
}

/**
 * The primary goes last, when nothing else is due: with others to take over it is asked to hand its role on first, so
 * that the write outage is the switchover alone and never a race against its own preStop.
 */
export function primaryLast(situation: Situation): Outcome | null {
  const { snapshot, replicas } = situation;
  const next = dueMembers(situation).find((member) => member.primary);
  if (!next) return null;
  const hold =
    primaryWaitsForHeld(situation, next) ??
    closedGate(situation) ??
    // However many may be away: MOCO may choose one that is leaving, and would have to switch over again.
    budgetUsed(situation, 1) ??
    memberProtected(next) ??
    awaitingApproval(situation, next);
  if (hold) return wait(hold);
  if (replicas === 1) return take({ kind: 'evict', rule: 'SingleMember', targets: [target(next)] });
  const failing = switchoverFailing(situation, next);
  if (failing) return wait(failing);
  const revision = snapshot.statefulSet?.updateRevision ?? '';
  return take({ kind: 'demote', rule: 'PrimaryLast', targets: [target(next)], revision });
}

/** Each try blocks writes for a while, so they come ever more rarely, and after the last a person has to look. */
const retryDelaysSeconds: readonly number[] = [5 * 60, 15 * 60, 45 * 60];
const lastRetryDelaySeconds = 45 * 60;

function switchoverFailing(situation: Situation, { ordinal: member }: Member): Hold | null {
  const { snapshot, deadlines, overridden } = situation;
  const { switchoverTries: tries, sinceLastTrySeconds } = snapshot.memory;
  if (tries === 0 || overridden.has('SwitchoverFailing')) return null;
  const delaySeconds = retryDelaysSeconds[tries - 1];
  if (delaySeconds === undefined && !isApproved(situation)) {
    return { rule: 'SwitchoverFailing', member, tries, retries: false };
  }
  return deadlines.reached(sinceLastTrySeconds, delaySeconds ?? lastRetryDelaySeconds)
    ? null
    : { rule: 'SwitchoverFailing', member, tries, retries: true };
}
