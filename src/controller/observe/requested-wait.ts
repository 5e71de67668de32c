import type { RolloutStatus } from '../../api/rollout-status.ts';
import { isRequestedByUser } from '../../core/rules/catalogue.ts';

/** No progress is expected while a user requests the wait. */
export function waitedOnRequest({ hold }: RolloutStatus): boolean {
  return hold !== undefined && isRequestedByUser(hold.rule);
}
