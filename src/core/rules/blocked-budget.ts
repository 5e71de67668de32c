import { pointedOut, withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';

// Why a PodDisruptionBudget, or the API server, does not allow an eviction, and the sentence that says so.

export interface BlockedBudget {
  readonly budget: string;
  readonly cause: 'closed' | 'closedByOthers' | 'used' | 'notObserved' | 'syncFailed' | 'refused' | 'several';
  readonly healthy: number;
  readonly needed: number;
  readonly message: string | null;
  /**
   * How many evictions the budget already counts, although the evicted pods may still exist; absent if there are none.
   */
  readonly awaiting?: number;
  /** Who owns or manages a budget that MOCO did not create, such as `managed by helm`; absent if that is not known. */
  readonly whose?: string;
  /** A rule that a user has overridden in vain, because the API server would refuse the step anyway. */
  readonly inVain?: 'BackupRunning';
}

export function explainBudget(blocked: BlockedBudget): string {
  const { budget, cause, healthy, needed, message, awaiting, inVain, whose } = blocked;
  const named = `PodDisruptionBudget ${budget}${whose === undefined ? '' : ` (${whose})`}`;
  switch (cause) {
    case 'closed':
      return `${named} allows no disruptions; MOCO sets it this way during a backup${inVain === undefined ? '' : `; overriding ${inVain} does not open it: let the backup end, or delete its Job`}`;
    case 'closedByOthers':
      return `${named} allows no disruptions (maxUnavailable is 0), and MOCO did not create it: change or delete it`;
    case 'used':
      return `${named} needs ${needed} healthy pods and has ${healthy}${awaiting === undefined ? '' : `; it still counts ${awaiting === 1 ? 'an earlier eviction' : `${awaiting} earlier evictions`}, for at most two minutes`}`;
    case 'notObserved':
      return `${named} has changed, and Kubernetes has not recounted its pods yet`;
    case 'syncFailed':
      return `${named} allows no disruptions, because Kubernetes cannot count its pods (SyncFailed)${message === null ? '' : `: ${withoutFullStop(message)}`}; see \`kubectl describe poddisruptionbudget ${budget}\``;
    case 'refused':
      return `the eviction was refused: ${message === null ? `${named} needs ${needed} healthy pods` : pointedOut(message)}`;
    case 'several':
      return `several PodDisruptionBudgets select the members, and Kubernetes does not evict such pods: MOCO did not create ${named}, so its owner has to delete it or narrow its selector`;
  }
}

/** How long a refusal of the API server counts, unless the budget changes earlier. */
const refusalSeconds = 10;

export function blockedBudget({ snapshot, deadlines, overridden }: Situation): BlockedBudget | null {
  // Budgets that a person may change come first, because the message is for people.
  const budgets = snapshot.budgets.toSorted((one, other) => Number(one.ofMoco) - Number(other.ofMoco));
  for (const budget of budgets) {
    const {
      name,
      currentHealthy: healthy,
      desiredHealthy: needed,
      awaiting,
      refusal,
      whose,
      ofMoco,
      syncFailure,
    } = budget;
    const blocked = (cause: BlockedBudget['cause'], message: string | null = null): BlockedBudget => ({
      budget: name,
      cause,
      healthy,
      needed,
      message,
      ...(!ofMoco && whose !== null && { whose }),
    });
    // The eviction API answers 500 if more than one budget matches a pod.
    if (budgets.length > 1) return blocked('several');
    if (budget.closed && !budget.ofMoco) return blocked('closedByOthers');
    if (budget.closed)
      return { ...blocked('closed'), ...(overridden.has('BackupRunning') && { inVain: 'BackupRunning' }) };
    const isOpen = budget.observed && budget.disruptionsAllowed >= 1;
    if (!isOpen && syncFailure !== undefined) return blocked('syncFailed', syncFailure);
    if (!budget.observed) return blocked('notObserved');
    if (!(budget.disruptionsAllowed >= 1)) return { ...blocked('used'), ...(awaiting > 0 && { awaiting }) };
    if (refusal !== null && !deadlines.reached(budget.refusedForSeconds, refusalSeconds)) {
      return blocked('refused', refusal);
    }
  }
  return null;
}
