import type { Hold } from './decision.ts';
import { foreignDemote } from './demotion.ts';
import { memberLeaving } from './leaving.ts';
import { backupRunning, primaryProtected, remove, updatedMemberOwes } from './not-participating.ts';
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

/** Members of a cluster of any size that may be away at once. */
const maxUnavailable = 1;

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
  const next = impaired.find((member) => !member.primary) ?? impaired[0];
  if (!next) return null;
  const hold =
    memberLeaving(situation) ??
    (everyOtherParticipates(situation, next) ? null : budgetUsed(situation)) ??
    backupRunning(situation) ??
    primaryProtected(next);
  return hold ? wait(hold) : remove('MemberImpaired', [next]);
}

export function healthyReplicas(situation: Situation): Outcome | null {
  const [next] = descending(dueMembers(situation).filter((member) => !member.primary));
  if (!next) return null;
  const hold = closedGate(situation);
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
  const hold = closedGate(situation) ?? primaryProtected(next);
  if (hold) return wait(hold);
  if (replicas === 1) return take({ kind: 'evict', rule: 'SingleMember', targets: [target(next)] });
  const failing = switchoverFailing(situation, next);
  if (failing) return wait(failing);
  const revision = snapshot.statefulSet?.updateRevision ?? '';
  return take({ kind: 'demote', rule: 'PrimaryLast', targets: [target(next)], revision });
}

/** What has to be true of the whole cluster before a member that works is taken away. */
function closedGate(situation: Situation): Hold | null {
  return (
    foreignDemote(situation) ??
    budgetUsed(situation) ??
    clusterNotHealthy(situation) ??
    singleBackup(situation) ??
    blockedByBudget(situation)
  );
}

function budgetUsed(situation: Situation): Hold | null {
  const away = [
    ...situation.missing,
    ...situation.members.filter((member) => !member.participates).map((member) => member.ordinal),
  ];
  return away.length >= maxUnavailable
    ? (memberLeaving(situation) ?? { rule: 'BudgetUsed', away, maxUnavailable })
    : null;
}

function clusterNotHealthy({ snapshot, replicas }: Situation): Hold | null {
  const { healthy, syncedReplicas } = snapshot.cluster;
  return healthy && syncedReplicas === replicas
    ? null
    : { rule: 'ClusterNotHealthy', healthy, synced: syncedReplicas, replicas };
}

/** With a budget in place the closed budget itself says so, with its numbers. */
function singleBackup({ snapshot }: Situation): Hold | null {
  return snapshot.backupJobActive ? { rule: 'BackupRunning' } : null;
}

/** A refusal is believed for this long, unless its budget changes earlier. */
const refusalSeconds = 10;

function blockedByBudget({ snapshot, deadlines }: Situation): Hold | null {
  const { budgets } = snapshot;
  for (const budget of budgets) {
    const { name, currentHealthy: healthy, desiredHealthy: needed, refusal } = budget;
    const blocked = (cause: Extract<Hold, { rule: 'BlockedByPDB' }>['cause'], message: string | null = null): Hold => ({
      rule: 'BlockedByPDB',
      budget: name,
      cause,
      healthy,
      needed,
      message,
    });
    // The eviction API answers 500 where more than one budget matches a pod.
    if (budgets.length > 1) return blocked('several');
    if (budget.closed) return blocked('closed');
    if (!budget.observed) return blocked('notObserved');
    if (!(budget.disruptionsAllowed >= 1)) return blocked('used');
    if (refusal !== null && !deadlines.reached(budget.refusedForSeconds, refusalSeconds)) {
      return blocked('refused', refusal);
    }
  }
  return null;
}

/** Each try blocks writes for a while, so they come ever more rarely, and after the last a person has to look. */
const retryDelaysSeconds: readonly number[] = [5 * 60, 15 * 60, 45 * 60];

function switchoverFailing({ snapshot, deadlines }: Situation, member: Member): Hold | null {
  const { switchoverTries: tries, sinceLastTrySeconds } = snapshot.memory;
  if (tries === 0) return null;
  const delaySeconds = retryDelaysSeconds[tries - 1];
  if (delaySeconds === undefined) return { rule: 'SwitchoverFailing', member: member.ordinal, tries, retries: false };
  return deadlines.reached(sinceLastTrySeconds, delaySeconds)
    ? null
    : { rule: 'SwitchoverFailing', member: member.ordinal, tries, retries: true };
}
