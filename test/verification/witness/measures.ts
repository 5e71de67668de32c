import { hasWritablePrimary, participates, primaryOf, replicasOf } from './member.ts';
import type { Moment } from './moment.ts';

/** The cost of a rollout for the users of the database. */
export interface Measures {
  readonly secondsWithoutWritablePrimary: number;
  /** The most members that didn't participate at the same time. */
  readonly mostUnavailable: number;
  /** How often the primary's index has moved. */
  readonly switchovers: number;
  readonly disruptions: number;
  /** Disruptions of members that were updated already, or had been disrupted before. */
  readonly needless: number;
}

export function measure(
  moments: readonly Moment[],
  sinceMilliseconds: number,
): Pick<Measures, 'secondsWithoutWritablePrimary' | 'mostUnavailable' | 'switchovers'> {
  let without = 0;
  let mostUnavailable = 0;
  let switchovers = 0;
  moments.forEach((moment, index) => {
    const until = moments[index + 1]?.atMilliseconds ?? moment.atMilliseconds;
    if (until < sinceMilliseconds || moment.cluster === null) return;
    if (!hasWritablePrimary(moment)) without += until - Math.max(moment.atMilliseconds, sinceMilliseconds);
    const here = moment.members.filter((member) => participates(moment, member)).length;
    mostUnavailable = Math.max(mostUnavailable, replicasOf(moment) - here);
    const before = moments[index - 1];
    if (before?.cluster && moment.atMilliseconds >= sinceMilliseconds && primaryOf(before) !== primaryOf(moment)) {
      switchovers += 1;
    }
  });
  return { secondsWithoutWritablePrimary: without / 1000, mostUnavailable, switchovers };
}
