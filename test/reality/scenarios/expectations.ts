import type { MemberRows } from '../load/check-rows.ts';
import type { WriteGap } from '../load/write-gaps.ts';
import type { WriterKind } from '../load/write-load.ts';
import type { Departure } from './departures.ts';

/** What a scenario has to come to, beyond what every scenario has to. */
export interface Expectations {
  /** The ordinals in the order in which they go; `null`: whatever the laws of the witness allow. */
  readonly order: readonly number[] | null;
  /** Gaps that are judged, of each kind of writers: shorter ones come from a busy machine, and are only shown. */
  readonly gaps: { readonly most: number; readonly longestMilliseconds: number };
  /** Somebody else takes members too, and may take a primary. */
  readonly mayTakePrimary: boolean;
  /** Nothing is wrong: no Warning, nothing that a person has to look at. */
  readonly isQuiet: boolean;
  /** The rollout's time by that of the restarts that it consists of; `null`: something else takes time too. */
  readonly mostRatio: number | null;
}

export type GapsByKind = Readonly<Record<WriterKind, readonly WriteGap[]>>;

export const kindsInWords: Readonly<Record<WriterKind, string>> = {
  kept: 'kept connections',
  fresh: 'new connections',
};

/** A switchover takes longer. */
const judgedGapMilliseconds = 1000;

/** What a rollout came to. */
export interface Facts {
  readonly rows: readonly MemberRows[];
  readonly gaps: GapsByKind;
  readonly departures: readonly Departure[];
  /** Sentences: Warnings of this controller, holds that alarm, times of being Stalled. */
  readonly alarms: readonly string[];
  /** What the witness has found. */
  readonly findings: readonly string[];
  readonly ratio: number | null;
  /** Why it did not end; `null` if it did. */
  readonly unfinished: string | null;
}

/** A sentence for everything that is not as it has to be. */
export function complaints(facts: Facts, expected: Expectations): readonly string[] {
  const { unfinished, findings } = facts;
  return [
    ...(unfinished === null ? [] : [unfinished]),
    ...complaintsOfRows(facts),
    ...complaintsOfGaps(facts, expected),
    ...complaintsOfOrder(facts, expected),
    ...(expected.isQuiet ? facts.alarms : []),
    ...findings,
    ...complaintsOfRatio(facts, expected),
  ];
}

/** A sentence for each member that lost rows. */
export function complaintsOfRows({ rows }: Pick<Facts, 'rows'>): readonly string[] {
  if (rows.length === 0) return ['no member’s rows were compared'];
  return rows.flatMap(({ member, missing, unreadable }) => {
    if (unreadable !== null) return [`the rows of ${member} could not be read (${unreadable})`];
    return missing.length === 0 ? [] : [`${member} lost ${missing.length} acknowledged rows`];
  });
}

function complaintsOfGaps(facts: Facts, { gaps: { most, longestMilliseconds } }: Expectations): readonly string[] {
  return (Object.keys(kindsInWords) as WriterKind[]).flatMap((kind) => {
    const gaps = judgedGaps(facts.gaps[kind]);
    const tooLong = gaps.filter(({ milliseconds }) => milliseconds > longestMilliseconds);
    const of = kindsInWords[kind];
    return [
      ...(gaps.length > most
        ? [`${gaps.length} write gaps of ${of} (${inSeconds(gaps)}), at most ${most} expected`]
        : []),
      ...(tooLong.length > 0
        ? [
            `write gaps of ${of} of ${inSeconds(tooLong)}, at most ${(longestMilliseconds / 1000).toFixed(1)} s expected`,
          ]
        : []),
    ];
  });
}

function complaintsOfOrder({ departures }: Facts, { order, mayTakePrimary }: Expectations): readonly string[] {
  const went = departures.map(({ ordinal }) => ordinal).join(', ');
  return [
    ...(order === null || went === order.join(', ')
      ? []
      : [`members went ${went || 'none'}; ${order.join(', ')} expected`]),
    ...(mayTakePrimary
      ? []
      : departures
          .filter(({ asPrimary }) => asPrimary)
          .map(({ ordinal }) => `member ${ordinal} went while it was primary`)),
  ];
}

function complaintsOfRatio({ ratio }: Facts, { mostRatio }: Expectations): readonly string[] {
  if (mostRatio === null || ratio === null || ratio <= mostRatio) return [];
  return [`${ratio.toFixed(3)} times the restarts, at most ${mostRatio} expected`];
}

/** Those that were not over at that time. */
export function gapsSince(gaps: GapsByKind, atMilliseconds: number): GapsByKind {
  const since = (some: readonly WriteGap[]): readonly WriteGap[] =>
    some.filter(({ fromMilliseconds, milliseconds }) => fromMilliseconds + milliseconds > atMilliseconds);
  return { kept: since(gaps.kept), fresh: since(gaps.fresh) };
}

/** Without those that come from a busy machine. */
export function judgedGaps(gaps: readonly WriteGap[]): readonly WriteGap[] {
  return gaps.filter(({ milliseconds }) => milliseconds >= judgedGapMilliseconds);
}

/** Such as `1.8 s, 13.4 s, 2 under a second`. */
export function inSeconds(gaps: readonly WriteGap[]): string {
  const long = judgedGaps(gaps);
  const short = gaps.length - long.length;
  return [
    ...long.map(({ milliseconds }) => `${(milliseconds / 1000).toFixed(1)} s`),
    ...(short > 0 ? [`${short} under a second`] : []),
  ].join(', ');
}

/** Such as `kept connections: 1.8 s; new connections: none`. */
export function inWords(gaps: GapsByKind): string {
  return (Object.keys(kindsInWords) as WriterKind[])
    .map((kind) => `${kindsInWords[kind]}: ${inSeconds(gaps[kind]) || 'none'}`)
    .join('; ');
}
