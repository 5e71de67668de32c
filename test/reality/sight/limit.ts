import { lasted, type Measure } from './measure.ts';

/** Milliseconds of the monotonic clock. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * The time that no order of restarting one member at a time can be under, in milliseconds, of what was measured: every
 * member's own restart, one switchover, `minReadySeconds` between one member and the next, and what of a backup no
 * restart and no switchover went on in.
 */
export function limitOf(measure: Measure, minReadySeconds: number, backup: Interval | null): number {
  const { absences, switchovers } = measure;
  const ordinals = new Set(absences.map(({ ordinal }) => ordinal));
  // One that went more than once had to go once.
  const restarts = [...ordinals].map((ordinal) =>
    Math.min(...absences.filter((absence) => absence.ordinal === ordinal).map((one) => lasted(one) ?? Number.NaN)),
  );
  const switchover = Math.max(0, ...switchovers.map((move) => lasted(move) ?? Number.NaN));
  const waits = Math.max(0, restarts.length - 1) * minReadySeconds * 1000;
  return restarts.reduce((sum, restart) => sum + restart, 0) + switchover + waits + idleIn(backup, measure);
}

/** What of an interval nothing was under way in. */
function idleIn(interval: Interval | null, { absences, switchovers }: Measure): number {
  if (interval === null) return 0;
  const busy = [...absences, ...switchovers]
    .map(({ fromMilliseconds, toMilliseconds }) => ({
      from: Math.max(fromMilliseconds, interval.from),
      to: Math.min(toMilliseconds ?? interval.to, interval.to),
    }))
    .filter(({ from, to }) => from < to)
    .toSorted((one, other) => one.from - other.from);
  let idle = 0;
  let until = interval.from;
  for (const { from, to } of busy) {
    idle += Math.max(0, from - until);
    until = Math.max(until, to);
  }
  return idle + Math.max(0, interval.to - until);
}
