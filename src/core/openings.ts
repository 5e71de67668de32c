import type { Situation } from './situation.ts';
import type { Blackout, Interval, MaintenanceFacts, Moment } from './snapshot.ts';

// The times that the user has named, as seen from now.

/** The facts cover the next 30 days, so they are collected again long before these are over. */
export const lookAgainSeconds = 86_400;

/** A switchover and the update of the old primary belong together. */
export const primarySeconds = (
  { replicas, policy }: Pick<Situation, 'replicas' | 'policy'>,
  memberSeconds: number,
): number => memberSeconds + (replicas > 1 ? policy.switchoverTimeoutSeconds : 0);

export type Times = Pick<MaintenanceFacts, 'windows' | 'blackouts'>;

const now: Moment = { inSeconds: 0, at: 'now' };
const never: Moment = { inSeconds: Number.POSITIVE_INFINITY, at: 'never' };

/** When the next opening begins that is so long, be it now; `null` if none of the next 30 days is. */
export function nextOpening({ windows, blackouts }: Times, seconds: number): Moment | null {
  for (const { from, until } of blackouts.reduce(without, windows ?? [{ from: now, until: never }])) {
    const start = later(from, now);
    if (until.inSeconds - start.inSeconds >= seconds) return start;
  }
  return null;
}

const without = (open: readonly Interval[], blackout: Blackout): readonly Interval[] =>
  open
    .flatMap(({ from, until }) => [
      { from, until: earlier(until, blackout.from) },
      { from: later(from, blackout.until), until },
    ])
    .filter(({ from, until }) => from.inSeconds < until.inSeconds);

const earlier = (one: Moment, other: Moment): Moment => (one.inSeconds <= other.inSeconds ? one : other);
const later = (one: Moment, other: Moment): Moment => (one.inSeconds >= other.inSeconds ? one : other);

/** The facts at an opening that a hold has named. */
export function atOpening(maintenance: MaintenanceFacts, at: string): MaintenanceFacts {
  const { windows, restartWindows, blackouts } = maintenance;
  const openings = [
    ...[...(windows ?? []), ...(restartWindows ?? [])].map(({ from }) => from),
    ...blackouts.map(({ until }) => until),
  ];
  return afterSeconds(maintenance, openings.find((one) => one.at === at)?.inSeconds ?? 0);
}

/** The facts that much later. */
export function afterSeconds(maintenance: MaintenanceFacts, seconds: number): MaintenanceFacts {
  const moved = ({ inSeconds, at }: Moment): Moment => ({ inSeconds: inSeconds - seconds, at });
  const all = <Kind extends Interval>(intervals: readonly Kind[]): readonly Kind[] =>
    intervals.map((one) => ({ ...one, from: moved(one.from), until: moved(one.until) }));
  const { windows, restartWindows, blackouts } = maintenance;
  return {
    ...maintenance,
    windows: windows && all(windows),
    restartWindows: restartWindows && all(restartWindows),
    blackouts: all(blackouts),
  };
}
