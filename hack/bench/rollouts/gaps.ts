import type { Measure } from './measure.ts';

/** From this moment on MOCO has settled every member and reports Healthy, or it has not. */
export interface Settling {
  readonly at: number;
  readonly settled: boolean;
}

/** The time of a rollout of one member at a time beyond its limit, in milliseconds. */
export interface Gaps {
  /** From the change of the template to the first member's going. */
  readonly first: number;
  /** After every member, and after the switchover, but the last: until MOCO is content again. */
  readonly moco: readonly number[];
  /** From there to the next part. */
  readonly reaction: readonly number[];
}

/** `settlings` in order, each different from the previous one. */
export function gapsOf({ beganMilliseconds, absences, switchovers }: Measure, settlings: readonly Settling[]): Gaps {
  const parts = [...absences, ...switchovers]
    .map(({ fromMilliseconds: from, toMilliseconds: to }) => ({ from, to: to ?? Number.POSITIVE_INFINITY }))
    .toSorted((one, other) => one.from - other.from);
  const between = parts.flatMap(({ to }, index) => {
    const next = parts[index + 1]?.from;
    if (next === undefined || next < to) return [];
    const settledAt = Math.min(whenSettled(settlings, to), next);
    return [{ moco: settledAt - to, reaction: next - settledAt }];
  });
  return {
    first: (parts[0]?.from ?? Number.NaN) - beganMilliseconds,
    moco: between.map(({ moco }) => moco),
    reaction: between.map(({ reaction }) => reaction),
  };
}

/** The first moment from `at` on. */
function whenSettled(settlings: readonly Settling[], at: number): number {
  if (settlings.findLast((settling) => settling.at <= at)?.settled === true) return at;
  return settlings.find((settling) => settling.at > at && settling.settled)?.at ?? Number.POSITIVE_INFINITY;
}
