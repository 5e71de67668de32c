import type { WitnessedWindow } from './objects.ts';

const secondMilliseconds = 1000;
const minuteMilliseconds = 60 * secondMilliseconds;
const dayMilliseconds = 24 * 60 * minuteMilliseconds;

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/**
 * Whether a window is open that opens at a minute in UTC, every day or on one of the year (`30 1 * * *`, `0 3 1 1 *`), for
 * at most a day: a number of seconds, or such as `1h`.
 */
export function isOpen({ schedule, duration }: WitnessedWindow, wallMilliseconds: number): boolean {
  const [, minute, hour, day, month] = /^(\d+) (\d+) (\*|\d+) (\*|\d+) \*$/.exec(schedule) ?? [];
  const [, count = '', unit = 's'] = /^(\d+)([smh]?)$/.exec(String(duration)) ?? [];
  const seconds = Number(count) * (unitSeconds[unit || 's'] ?? 1);
  if (minute === undefined || hour === undefined || count === '') {
    throw new Error(`expected a window of every day or of one, got ${schedule} and ${duration}`);
  }
  const opens = (Number(hour) * 60 + Number(minute)) * minuteMilliseconds;
  const sinceMilliseconds = (((wallMilliseconds - opens) % dayMilliseconds) + dayMilliseconds) % dayMilliseconds;
  const openedAt = new Date(wallMilliseconds - sinceMilliseconds);
  const isThatDay =
    (day === '*' || Number(day) === openedAt.getUTCDate()) &&
    (month === '*' || Number(month) === openedAt.getUTCMonth() + 1);
  return isThatDay && sinceMilliseconds < seconds * secondMilliseconds;
}
