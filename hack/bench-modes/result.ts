import { lasted, type Measure } from '../demo/measure.ts';

/** One rollout in numbers; durations in milliseconds. */
export interface Result {
  /** From the template change to the last member being back. */
  readonly rollout: number;
  /** The members' own restarts and one switchover, one after the other. */
  readonly parts: number;
  /** For how long no member took writes, altogether. */
  readonly withoutWrites: number;
  readonly switchovers: number;
  readonly mostAway: number;
}

/** Of a rollout that is over. Where there was more than one switchover the longest counts. */
export function resultOf({ beganMilliseconds, absences, switchovers }: Measure, withoutWrites: number): Result {
  const end = Math.max(...absences.map(({ toMilliseconds }) => toMilliseconds ?? Number.NaN));
  const restarts = absences.reduce((sum, absence) => sum + (lasted(absence) ?? Number.NaN), 0);
  const longest = Math.max(0, ...switchovers.map((move) => lasted(move) ?? Number.NaN));
  return {
    rollout: end - beganMilliseconds,
    parts: restarts + longest,
    withoutWrites,
    switchovers: switchovers.length,
    mostAway: mostAtOnce(absences),
  };
}

/** An absence counts from its first moment up to its last, without that one. */
function mostAtOnce(absences: Measure['absences']): number {
  return Math.max(
    0,
    ...absences.map(({ fromMilliseconds: at }) => {
      const isAway = (other: Measure['absences'][number]): boolean =>
        other.fromMilliseconds <= at && (other.toMilliseconds ?? Number.POSITIVE_INFINITY) > at;
      return absences.filter(isAway).length;
    }),
  );
}
