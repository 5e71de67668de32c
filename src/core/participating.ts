import { awaitingApproval, isApproved, primaryWaitsForPinned } from './approval.ts';
import type { Hold } from './decision.ts';
import { backupRunning, batchNotComplete, closedGate, maxUnavailableReached, updatedMemberUnsettled } from './gates.ts';
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
import { memberTerminating } from './terminating.ts';
import { awaitingResize, isUpdatedAsPrimary, restartNeeded, stepInPlace } from './update-in-place.ts';

// Due members that participate: impaired ones first, then healthy replicas, then the primary.

export function updatedMembersSettle(situation: Situation): Outcome | null {
  const hold = updatedMemberUnsettled(situation) ?? awaitingResize(situation);
  return hold ? wait(hold) : null;
}

/**
 * The update may repair the sidecar, and the PodDisruptionBudget would refuse an eviction, since it already counts the
 * pod as unavailable. The primary goes without a demotion: MOCO does not switch over in a cluster that it reports as
 * incomplete.
 */
export function membersImpaired(situation: Situation): Outcome | null {
  const impaired = descending(dueMembers(situation).filter((member) => member.state === 'impaired'));
  const free = impaired.filter((member) => !isProtected(member));
  const next = free.find((member) => !member.primary) ?? free[0] ?? impaired[0];
  if (!next) return null;
  const hold =
    memberTerminating(situation) ??
    (everyOtherParticipates(situation, next) ? null : maxUnavailableReached(situation, 1)) ??
    backupRunning(situation) ??
    memberProtected(next);
  return hold ? wait(hold) : remove('MemberImpaired', [next]);
}

export function healthyReplicas(situation: Situation): Outcome | null {
  const due = descending(dueMembers(situation).filter((member) => !member.primary));
  const next = due.find((member) => !isProtected(member)) ?? due[0];
  if (!next) return null;
  const inPlace = stepInPlace(situation, next);
  const hold =
    (inPlace === null ? restartNeeded(situation, next) : null) ??
    closedGate(situation) ??
    // Whatever the budget: containers restart in one member at a time.
    (inPlace === null ? null : maxUnavailableReached(situation, 1)) ??
    memberProtected(next) ??
    batchNotComplete(situation, next);
  if (hold) return wait(hold);
  if (inPlace !== null) return take(inPlace);
  return take({ kind: 'evict', rule: 'ReplicaHealthy', targets: [target(next)] });
}

/**
 * The primary goes last, when nothing else is due. If others can take over, MOCO moves the role first, so that writes
 * stop only for the switchover, and the switchover never races with the preStop hook.
 */
export function primaryLast(situation: Situation): Outcome | null {
  const { snapshot, replicas } = situation;
  const next = dueMembers(situation).find((member) => member.primary);
  if (!next) return null;
  const inPlace = stepInPlace(situation, next);
  const hold =
    primaryWaitsForPinned(situation, next) ??
    (inPlace === null ? restartNeeded(situation, next) : null) ??
    closedGate(situation) ??
    // Whatever the budget: MOCO may choose a terminating member, and would have to switch over again.
    maxUnavailableReached(situation, 1) ??
    memberProtected(next) ??
    awaitingApproval(situation, next);
  if (hold) return wait(hold);
  if (inPlace !== null && isUpdatedAsPrimary(situation, next, inPlace)) return take(inPlace);
  if (replicas === 1) return take({ kind: 'evict', rule: 'SingleMember', targets: [target(next)] });
  const failing = switchoverFailing(situation, next);
  if (failing) return wait(failing);
  const revision = snapshot.statefulSet?.updateRevision ?? '';
  return take({ kind: 'demote', rule: 'PrimaryLast', targets: [target(next)], revision });
}

/** Each try blocks writes for a while, so the pauses grow, and after the last try a person has to look. */
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
