import type { WitnessedWindow } from './objects.ts';

const secondMilliseconds = 1000;
const minuteMilliseconds = 60 * secondMilliseconds;
const dayMilliseconds = 24 * 60 * minuteMilliseconds;

/** Whether a window is open that opens every day at a minute in UTC (`30 1 * * *`), for a number of seconds. */
export function isOpen({ schedule, duration }: WitnessedWindow, wallMilliseconds: number): boolean {
  const [, minute, hour] = /^(\d+) (\d+) \* \* \*$/.exec(schedule) ?? [];
  if (minute === undefined || hour === undefined || typeof duration !== 'number') {
    throw new Error(`expected a window of every day and a number of seconds, got ${schedule} and ${duration}`);
  }
  const opens = (Number(hour) * 60 + Number(minute)) * minuteMilliseconds;
  const since = (wallMilliseconds - opens) % dayMilliseconds;
  return (since < 0 ? since + dayMilliseconds : since) < duration * secondMilliseconds;
}
