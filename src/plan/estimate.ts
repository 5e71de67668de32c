import type { HistoryEntry, RolloutStatus } from '../api/rollout-status.ts';
import { milliseconds } from '../moco/json.ts';
import type { Plan } from './rollout-plan.ts';

/** How long a plan would take, and what the estimate is based on. */
export interface Estimate {
  readonly seconds: number;
  readonly from: string;
}

/**
 * Each member that goes or whose containers restart takes as long as the members of this rollout took, or of the last
 * one. `null` if there was none.
 */
export function estimate({ entries }: Plan, status: RolloutStatus): Estimate | null {
  const members = entries.reduce((sum, entry) => {
    // MOCO replaces a member here.
    if (entry.kind === 'wait') return entry.hold.rule === 'AwaitingMoco' ? sum + 1 : sum;
    if (entry.kind !== 'step') return sum;
    const { step } = entry;
    return (step.kind === 'updateInPlace' && step.rule === 'ContainersRestart') ||
      step.kind === 'delete' ||
      step.kind === 'evict' ||
      step.kind === 'setPartition'
      ? sum + step.targets.length
      : sum;
  }, 0);
  const known = ofThisRollout(status) ?? ofTheLast(status);
  return known && { seconds: Math.round(members * known.secondsEach), from: known.from };
}

interface Known {
  readonly secondsEach: number;
  readonly from: string;
}

function ofThisRollout({ rollout }: RolloutStatus): Known | null {
  const seconds = (rollout?.memberDurations ?? []).map((one) => one.seconds);
  return seconds.length === 0 ? null : { secondsEach: mean(seconds), from: `${seconds.length} of this rollout` };
}

/** By its members. A rollout without their times counts from its first stale member to its end. */
function ofTheLast({ history = [] }: RolloutStatus): Known | null {
  const from = 'the last rollout';
  const seconds = (lastMeasured(history)?.memberDurations ?? []).map((one) => one.seconds);
  if (seconds.length > 0) return { secondsEach: mean(seconds), from };
  const last = history.findLast(({ outcome, disruptions }) => outcome === 'Complete' && disruptions > 0);
  const [start, end] = [milliseconds(last?.startedAt ?? null), milliseconds(last?.finishedAt ?? null)];
  if (!last || start === null || end === null) return null;
  return { secondsEach: (end - start) / 1000 / last.disruptions, from };
}

/** The last complete rollout that replaced members: one that updated all of them in place has measured nothing. */
export const lastMeasured = (history: readonly HistoryEntry[]): HistoryEntry | undefined =>
  history.findLast(({ outcome, memberDurations = [] }) => outcome === 'Complete' && memberDurations.length > 0);

/**
 * How long members of this rollout and of the last one that measured any were unavailable: the median, since one that a failing
 * revision kept down says little about the next. `null` if none was measured.
 */
export function measuredMemberSeconds({ rollout, history = [] }: RolloutStatus): number | null {
  const known = [...(rollout?.memberDurations ?? []), ...(lastMeasured(history)?.memberDurations ?? [])];
  return median(known.map(({ seconds }) => seconds));
}

/** `null` without numbers. */
export function median(numbers: readonly number[]): number | null {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? null;
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
