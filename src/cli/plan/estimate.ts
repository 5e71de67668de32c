import type { RolloutStatus } from '../../controller/rollout-resource.ts';
import type { Plan } from '../../core/plan.ts';
import { milliseconds } from '../../moco/timestamp.ts';

/** How long a plan would take, and where that is taken from. */
export interface Estimate {
  readonly seconds: number;
  readonly from: string;
}

/** Each member takes as long as those of this rollout took, or of the last one; `null` where there was none. */
export function estimate({ entries }: Plan, status: RolloutStatus): Estimate | null {
  const members = entries.reduce((sum, entry) => {
    // It is MOCO that takes a member then.
    if (entry.kind === 'wait') return entry.hold.rule === 'AwaitingMoco' ? sum + 1 : sum;
    if (entry.kind !== 'step') return sum;
    const { step } = entry;
    return step.kind === 'delete' || step.kind === 'evict' || step.kind === 'setPartition'
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
  const seconds = Object.values(rollout?.memberSeconds ?? {});
  return seconds.length === 0 ? null : { secondsEach: mean(seconds), from: `${seconds.length} of this rollout` };
}

/** By its members; of one that has not told of them, from its first stale member to its end. */
function ofTheLast({ history = [], lastCompleted }: RolloutStatus): Known | null {
  const from = 'the last rollout';
  const last = history.findLast(({ outcome }) => outcome === 'Complete');
  const seconds = Object.values(last?.memberSeconds ?? {});
  if (seconds.length > 0) return { secondsEach: mean(seconds), from };
  const whole = last ?? lastCompleted;
  const [start, end] = [milliseconds(whole?.startedAt ?? null), milliseconds(whole?.finishedAt ?? null)];
  if (!whole || whole.disruptions === 0 || start === null || end === null) return null;
  return { secondsEach: (end - start) / 1000 / whole.disruptions, from };
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
