import type { MaxUnavailable } from './policy.ts';

/** A whole number that is not negative, or such a number with a percent sign: Kubernetes' int-or-string. */
export function isReadable(maxUnavailable: MaxUnavailable): boolean {
  return typeof maxUnavailable === 'number'
    ? Number.isInteger(maxUnavailable) && maxUnavailable >= 0
    : /^\d+%$/.test(maxUnavailable);
}

/**
 * How many members may be unavailable at once: KEP-961's number or percentage, rounded down. At least 1, at most the
 * members from the partition up, and never so many that fewer than ⌊replicas/2⌋ + 1 are left. An invalid value counts
 * as 1.
 */
export function budgetOf(maxUnavailable: MaxUnavailable, replicas: number, partition: number): number {
  const wanted =
    typeof maxUnavailable === 'number' ? maxUnavailable : (replicas * Number.parseFloat(maxUnavailable)) / 100;
  const bounded = Math.min(Math.floor(wanted), replicas - partition, Math.floor(replicas / 2));
  return bounded >= 1 ? bounded : 1;
}
