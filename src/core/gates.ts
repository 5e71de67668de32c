import type { Hold } from './decision.ts';
import { foreignDemote } from './demotion.ts';
import { memberLeaving } from './leaving.ts';
import { isProtected, memberProtected } from './protected.ts';
import type { Member, Situation } from './situation.ts';

// What has to be true of the cluster before a member that works is taken away. Each gate is a hold or `null`.

/** All that a healthy member's going asks for. Its own are asked beside it. */
export function closedGate(situation: Situation): Hold | null {
  return (
    foreignDemote(situation) ??
    budgetUsed(situation, situation.budget) ??
    clusterNotHealthy(situation) ??
    backupJob(situation) ??
    blockedByBudget(situation)
  );
}

/**
 * Updated members must participate, be settled, and have done so for minReadySeconds. With room for more than one a
 * starting member only uses up its part of the room; one that fails holds all the same.
 */
export function updatedMemberOwes({ members, budget }: Situation): Hold | null {
  const owing = members.find(
    (member) => member.owes !== null && (budget === 1 || member.state === 'down' || member.crashLoop !== null),
  );
  return owing?.owes ? { rule: 'UpdatedMemberNotParticipating', member: owing.ordinal, wait: owing.owes } : null;
}

/** More members are away than may be, for whatever reason they are; an updated one is until it owes nothing. */
export function budgetUsed(situation: Situation, maxUnavailable: number): Hold | null {
  const away = [
    ...situation.missing,
    ...situation.members.filter((member) => !member.participates || member.owes !== null).map(({ ordinal }) => ordinal),
  ];
  if (away.length < maxUnavailable) return null;
  return memberLeaving(situation) ?? { rule: 'BudgetUsed', away, maxUnavailable };
}

/**
 * MOCO sees every member in place. With room for more than one it may miss those that this rollout has on their way,
 * as long as the cluster serves.
 */
function clusterNotHealthy({ snapshot, members, missing, replicas, budget }: Situation): Hold | null {
  const { healthy, available, syncedReplicas: synced } = snapshot.cluster;
  if (healthy && synced === replicas) return null;
  const onTheirWay = missing.length + members.filter(isOnItsWay).length;
  if (budget > 1 && available && onTheirWay > 0 && synced >= replicas - onTheirWay) return null;
  return { rule: 'ClusterNotHealthy', healthy, synced, replicas };
}

function isOnItsWay(member: Member): boolean {
  return member.state === 'leaving' || (member.updated && !member.participates);
}

/**
 * MOCO closes the budget while a backup runs, but only when it next reconciles the cluster after the job has begun, and
 * opens it as late. A cluster of one has no budget at all. So either of the two says that a backup runs.
 */
export function backupRunning({ snapshot, overridden }: Situation): Hold | null {
  const running = snapshot.backupJobActive || snapshot.budgets.some((budget) => budget.closed);
  return running && !overridden.has('BackupRunning') ? { rule: 'BackupRunning' } : null;
}

/** The job alone: a budget that is closed says so itself, with its numbers. */
function backupJob({ snapshot, overridden }: Situation): Hold | null {
  return snapshot.backupJobActive && !overridden.has('BackupRunning') ? { rule: 'BackupRunning' } : null;
}

/** A refusal is believed for this long, unless its budget changes earlier. */
const refusalSeconds = 10;

type Blocked = Extract<Hold, { rule: 'BlockedByPDB' }>;

function blockedByBudget({ snapshot, deadlines }: Situation): Hold | null {
  const { budgets } = snapshot;
  for (const budget of budgets) {
    const { name, currentHealthy: healthy, desiredHealthy: needed, awaiting, refusal } = budget;
    const blocked = (cause: Blocked['cause'], message: string | null = null): Blocked => ({
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
    if (!(budget.disruptionsAllowed >= 1)) {
      const hold = blocked('used');
      return awaiting > 0 ? { ...hold, awaiting } : hold;
    }
    if (refusal !== null && !deadlines.reached(budget.refusedForSeconds, refusalSeconds)) {
      return blocked('refused', refusal);
    }
  }
  return null;
}

/**
 * KEP-961's behaviour 1: under OrderedReady management members go in whole batches from the top, the next one when every
 * member of those before has been updated and owes nothing. Under Parallel management, MOCO's, there are no batches.
 */
export function batchNotComplete(situation: Situation, next: Member): Hold | null {
  const { snapshot, replicas, budget, overridden } = situation;
  if (snapshot.statefulSet?.podManagement !== 'OrderedReady' || overridden.has('BatchNotComplete')) return null;
  const batchOf = (ordinal: number): number => Math.floor((replicas - 1 - ordinal) / budget);
  const behind = situation.members.filter(
    (member) =>
      batchOf(member.ordinal) < batchOf(next.ordinal) &&
      !member.held &&
      !member.primary &&
      (!member.updated || member.owes !== null),
  );
  const [first] = behind;
  if (first && behind.every(isProtected)) return memberProtected(first);
  return behind.length > 0 ? { rule: 'BatchNotComplete', members: behind.map(({ ordinal }) => ordinal) } : null;
}
