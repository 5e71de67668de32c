import { isPrimary, participates } from './member.ts';
import { after, type Change, type Moment, nothing } from './moment.ts';

/** Every moment of one cluster, in order. */
export class Chronicle {
  readonly #moments: Moment[] = [nothing];

  get latest(): Moment {
    return this.#moments.at(-1) ?? nothing;
  }

  get moments(): readonly Moment[] {
    return this.#moments;
  }

  add(change: Change): Moment {
    const before = this.latest;
    const moment = withPrimary(before, withParticipating(before, after(before, change)));
    this.#moments.push(moment);
    return moment;
  }

  /** As it was at one revision of the store, and every moment from there up to another. */
  between(from: number, to: number): readonly Moment[] {
    const end = this.#upTo(to);
    const start = Math.min(this.#upTo(from), end);
    return this.#moments.slice(Math.max(0, start - 1), end);
  }

  /** Every moment in effect between two times. */
  during(from: number, to: number): readonly Moment[] {
    const last = this.#moments.findLastIndex(({ atMilliseconds }) => atMilliseconds <= to);
    let first = last;
    while (first > 0 && (this.#moments[first]?.atMilliseconds ?? 0) > from) first -= 1;
    return this.#moments.slice(Math.max(0, first), last + 1);
  }

  /** How many moments there are up to this revision. */
  #upTo(revision: number): number {
    let low = 0;
    let high = this.#moments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#moments[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function withParticipating(before: Moment, moment: Moment): Moment {
  const since = moment.members
    .filter((member) => participates(moment, member))
    .map(({ pod: { metadata } }): [string, number] => [
      metadata.uid,
      before.participatingSince.get(metadata.uid) ?? moment.atMilliseconds,
    ]);
  return { ...moment, participatingSince: new Map(since) };
}

function withPrimary(before: Moment, moment: Moment): Moment {
  const primary = moment.members.find((member) => isPrimary(moment, member));
  if (primary !== undefined && participates(moment, primary)) return { ...moment, primaryUnavailableSince: null };
  const moved = before.cluster?.status?.currentPrimaryIndex !== moment.cluster?.status?.currentPrimaryIndex;
  const since = moved ? null : before.primaryUnavailableSince;
  return { ...moment, primaryUnavailableSince: since ?? moment.atMilliseconds };
}
