import type { MaxUnavailable } from './policy.ts';

/**
 * How many members may be away at once: KEP-961's number or percentage, rounded down, at least 1, at most the members
 * from the partition up, and never so many that fewer than ⌊replicas/2⌋ + 1 are left. What can't be read counts as 1.
 */
export function budgetOf(maxUnavailable: MaxUnavailable, replicas: number, partition: number): number {
  const wanted =
    typeof maxUnavailable === 'number' ? maxUnavailable : (replicas * Number.parseFloat(maxUnavailable)) / 100;
  const bounded = Math.min(Math.floor(wanted), replicas - partition, Math.floor(replicas / 2));
  return bounded >= 1 ? bounded : 1;
}
