import type { Hold } from './decision.ts';
import { foreignDemote } from './demotion.ts';
import { isProtected, memberProtected } from './protected.ts';
import type { Member, Situation } from './situation.ts';
import { memberTerminating } from './terminating.ts';

// What has to be true of the cluster before a member that works is taken. Each gate returns a hold or `null`.

/** The gates for every healthy member. A replica and the primary have gates of their own as well. */
export function closedGate(situation: Situation): Hold | null {
  return (
    foreignDemote(situation) ??
    maxUnavailableReached(situation, situation.budget) ??
    clusterNotHealthy(situation) ??
    backupJob(situation) ??
    blockedByBudget(situation)
  );
}

/**
 * Updated members have to be settled and participate for minReadySeconds. With a budget above 1 a starting member only
 * uses its part of the budget. One that fails, and one whose containers restart in place, still blocks the rollout.
 */
export function updatedMemberUnsettled({ members, budget }: Situation): Hold | null {
  const owing = members.find(
    (member) =>
      member.unsettled !== null &&
      (budget === 1 || member.state === 'down' || member.crashLoop !== null || member.unsettled.for === 'containers'),
  );
  return owing?.unsettled
    ? { rule: 'UpdatedMemberNotParticipating', member: owing.ordinal, wait: owing.unsettled }
    : null;
}

/** As many members are unavailable as may be, for any reason. An updated member is unavailable until it is settled. */
export function maxUnavailableReached(situation: Situation, maxUnavailable: number): Hold | null {
  const unavailable = [
    ...situation.missing,
    ...situation.members
      .filter((member) => !member.participates || member.unsettled !== null)
      .map(({ ordinal }) => ordinal),
  ];
  if (unavailable.length < maxUnavailable) return null;
  return memberTerminating(situation) ?? { rule: 'MaxUnavailableReached', unavailable, maxUnavailable };
}

/**
 * MOCO reports every member in sync. With a budget above 1 it may miss members that this rollout is replacing, as long
 * as the cluster is available.
 */
function clusterNotHealthy({ snapshot, members, missing, replicas, budget }: Situation): Hold | null {
  const { healthy, available, syncedReplicas: synced } = snapshot.cluster;
  if (healthy && synced === replicas) return null;
  const onTheirWay = missing.length + members.filter(isOnItsWay).length;
  if (budget > 1 && available && onTheirWay > 0 && synced >= replicas - onTheirWay) return null;
  return { rule: 'ClusterNotHealthy', healthy, synced, replicas };
}

function isOnItsWay(member: Member): boolean {
  return member.state === 'terminating' || (member.updated && !member.participates);
}

/**
 * MOCO closes the budget while a backup runs, but only at its next reconciliation after the job has begun, and opens it
 * as late. A cluster of one has no budget. So either the job or the budget shows a backup.
 */
export function backupRunning({ snapshot, overridden }: Situation): Hold | null {
  const running = snapshot.backupJobActive || snapshot.budgets.some((budget) => budget.closed);
  return running && !overridden.has('BackupRunning') ? { rule: 'BackupRunning' } : null;
}

/** The job alone: `BlockedByPDB` reports a closed budget with its numbers. */
function backupJob({ snapshot, overridden }: Situation): Hold | null {
  return snapshot.backupJobActive && !overridden.has('BackupRunning') ? { rule: 'BackupRunning' } : null;
}

/** How long a refusal counts, unless its budget changes earlier. */
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
 * KEP-961's behaviour 1: under OrderedReady management members go in whole batches from the top. The next batch starts
 * when every member of the previous ones is updated and settled. Under Parallel management, which MOCO uses, there are
 * no batches.
 */
export function batchNotComplete(situation: Situation, next: Member): Hold | null {
  const { snapshot, replicas, budget, overridden } = situation;
  if (snapshot.statefulSet?.podManagement !== 'OrderedReady' || overridden.has('BatchNotComplete')) return null;
  const batchOf = (ordinal: number): number => Math.floor((replicas - 1 - ordinal) / budget);
  const behind = situation.members.filter(
    (member) =>
      batchOf(member.ordinal) < batchOf(next.ordinal) &&
      !member.pinned &&
      !member.primary &&
      (!member.updated || member.unsettled !== null),
  );
  const [first] = behind;
  if (first && behind.every(isProtected)) return memberProtected(first);
  return behind.length > 0 ? { rule: 'BatchNotComplete', members: behind.map(({ ordinal }) => ordinal) } : null;
}
