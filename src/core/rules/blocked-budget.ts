import { pointedOut } from '../sentences.ts';
import type { Situation } from '../situation.ts';

export interface BlockedBudget {
  readonly budget: string;
  readonly cause: 'closed' | 'closedByOthers' | 'used' | 'notObserved' | 'refused' | 'several';
  readonly healthy: number;
  readonly needed: number;
  readonly message: string | null;
  /** How many evictions whose pods may still exist use up the budget; absent if there are none. */
  readonly awaiting?: number;
  /** The owner of a budget that MOCO did not create; absent if it cannot be determined. */
  readonly whose?: string;
  /** The rule whose override has no effect, because the API server would refuse the step anyway. */
  readonly inVain?: 'BackupRunning';
}

export function explainBudget(blocked: BlockedBudget): string {
  const { budget, cause, healthy, needed, message, awaiting, inVain, whose } = blocked;
  const named = `PodDisruptionBudget ${budget}${whose === undefined ? '' : ` (of ${whose})`}`;
  switch (cause) {
    case 'closed':
      return `${named} allows no disruption, as it does while a backup runs${inVain === undefined ? '' : `; overriding ${inVain} does not change that: let the backup end, or delete its Job`}`;
    case 'closedByOthers':
      return `${named} allows no disruption (maxUnavailable is 0), and MOCO did not create it: change or delete it`;
    case 'used':
      return `${named} needs ${needed} healthy pods and has ${healthy}${awaiting === undefined ? '' : `; it still counts ${awaiting === 1 ? 'an earlier eviction' : `${awaiting} earlier evictions`}, for at most two minutes`}`;
    case 'notObserved':
      return `${named} has changed, and Kubernetes has not counted its pods again yet`;
    case 'refused':
      return `the eviction was refused: ${message === null ? `${named} needs ${needed} healthy pods` : pointedOut(message)}`;
    case 'several':
      return `several PodDisruptionBudgets select the members, and Kubernetes evicts no such pod: delete ${budget}${whose === undefined ? '' : ` (of ${whose})`}, which MOCO did not create`;
  }
}

/** How long a refusal counts, unless its budget changes earlier. */
const refusalSeconds = 10;

export function blockedBudget({ snapshot, deadlines, overridden }: Situation): BlockedBudget | null {
  // Prefers a budget that a person may change, since the message is for a person.
  const budgets = snapshot.budgets.toSorted((one, other) => Number(one.ofMoco) - Number(other.ofMoco));
  for (const budget of budgets) {
    const { name, currentHealthy: healthy, desiredHealthy: needed, awaiting, refusal, whose, ofMoco } = budget;
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
    if (!budget.observed) return blocked('notObserved');
    if (!(budget.disruptionsAllowed >= 1)) return { ...blocked('used'), ...(awaiting > 0 && { awaiting }) };
    if (refusal !== null && !deadlines.reached(budget.refusedForSeconds, refusalSeconds)) {
      return blocked('refused', refusal);
    }
  }
  return null;
}
