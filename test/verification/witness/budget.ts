import { replicasOf } from './member.ts';
import type { Moment } from './moment.ts';

/**
 * How many members may be unavailable at once: the user's setting, percentages of the replicas rounded down, at least
 * one, never more than there are above the partition, nor than leave a majority.
 */
export function budgetOf(moment: Moment): number {
  const replicas = replicasOf(moment);
  const { maxUnavailable = 1, partition = 0 } = moment.settings?.spec ?? {};
  const wanted =
    typeof maxUnavailable === 'number'
      ? maxUnavailable
      : Math.floor((replicas * Number.parseInt(maxUnavailable, 10)) / 100);
  return Math.max(1, Math.min(wanted, replicas - partition, Math.floor(replicas / 2)));
}
