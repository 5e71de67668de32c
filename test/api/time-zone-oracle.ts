/** The clock on the wall of a time zone, by JavaScript's own `Intl`, at a moment in milliseconds since 1970. */
export interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function wallClock(timeZone: string, at: number): WallClock {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  formats.set(timeZone, format);
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return { year, month, day, hour, minute };
}

/** The moment that a clock at UTC would call so: good for comparing the clocks of one zone. */
const asUtc = ({ year, month, day, hour, minute }: WallClock): number => Date.UTC(year, month - 1, day, hour, minute);

const minuteMilliseconds = 60_000;

/**
 * The first moment, to the minute, at which the clock of a zone shows this time or, on a day on which it skips the
 * time, a later one. Found by trying every minute from the earliest possible one. `null` if the day does not exist.
 */
export function firstMoment(timeZone: string, wanted: WallClock): number | null {
  const target = asUtc(wanted);
  const dayHours = 24;
  const earliest = target - dayHours * 60 * minuteMilliseconds;
  // By hours first, as long as the clock is more than three hours behind.
  let at = earliest;
  while (asUtc(wallClock(timeZone, at)) < target - 180 * minuteMilliseconds) at += 60 * minuteMilliseconds;
  while (asUtc(wallClock(timeZone, at)) < target) at += minuteMilliseconds;
  const found = wallClock(timeZone, at);
  return found.day === wanted.day ? at : null;
}
