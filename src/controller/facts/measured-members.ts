import type { HistoryEntry, RolloutStatus } from '../../api/rollout-status.ts';

/** How long one member was unavailable, as rollouts have measured it. */
export interface MeasuredMembers {
  /** The median, since a member that a failing revision kept down says little about the next. */
  readonly seconds: number;
  /** How many were measured. */
  readonly members: number;
}

/** By the members of this rollout and of the last one that measured any; `null` if none was measured. */
export function measuredMembers({ rollout, history = [] }: RolloutStatus): MeasuredMembers | null {
  const known = [...(rollout?.memberDurations ?? []), ...(lastMeasured(history)?.memberDurations ?? [])];
  const seconds = median(known.map((one) => one.seconds));
  return seconds === null ? null : { seconds, members: known.length };
}

/** The last complete rollout that replaced members: one that updated all of them in place has measured nothing. */
export const lastMeasured = (history: readonly HistoryEntry[]): HistoryEntry | undefined =>
  history.findLast(({ outcome, memberDurations = [] }) => outcome === 'Complete' && memberDurations.length > 0);

/** `null` without numbers. */
export function median(numbers: readonly number[]): number | null {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? null;
}
