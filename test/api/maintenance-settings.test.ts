import { expect } from 'chai';
import * as fc from 'fast-check';
import { type MaintenanceWindow, opensAt } from '../../src/api/maintenance-settings.ts';
import { propertyParameters } from '../support/property-parameters.ts';
import { firstMoment, wallClock } from './time-zone-oracle.ts';

const day = 86_400_000;
const at = (text: string): number => Date.parse(text);
/** The last opening before `from`, and those from it on. */
function opened(window: MaintenanceWindow, from: number, until: number) {
  const found: number[] = [];
  for (const one of opensAt(window, from)) {
    if (one >= until) break;
    found.push(one);
  }
  return { before: found.filter((one) => one < from), since: found.filter((one) => one >= from) };
}
const openings = (schedule: string, timeZone: string, from: string, days: number): readonly string[] =>
  opened({ schedule, duration: '4h', timeZone }, at(from), at(from) + days * day).since.map((one) =>
    new Date(one).toISOString().replace(':00.000Z', ''),
  );

describe('the schedule of a maintenance window', () => {
  const known: Readonly<Record<string, readonly [Parameters<typeof openings>, readonly string[]]>> = {
    'opens at a time of the zone': [
      ['30 1 * * *', 'Asia/Tokyo', '2026-01-02T00:00:00Z', 2],
      ['2026-01-02T16:30', '2026-01-03T16:30'],
    ],
    'opens at the first moment after a time that is skipped': [
      ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3],
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    'opens at the first of two times of the same name': [
      ['30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00:00Z', 3],
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    'follows a zone whose clocks change by half an hour': [
      ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T12:00:00Z', 3],
      ['2026-10-02T15:45', '2026-10-03T15:30', '2026-10-04T15:15'],
    ],
    'follows a zone whose clocks skip midnight': [
      ['0 0 * * *', 'Africa/Cairo', '2026-04-22T12:00:00Z', 3],
      ['2026-04-22T22:00', '2026-04-23T22:00', '2026-04-24T21:00'],
    ],
    'names the day of the week on which the window opens': [
      ['0 22 * * SAT', 'America/New_York', '2026-01-02T00:00:00Z', 7],
      ['2026-01-04T03:00'],
    ],
    'may have several hours': [
      ['0 1,13 * * *', 'UTC', '2026-01-02T00:00:00Z', 1],
      ['2026-01-02T01:00', '2026-01-02T13:00'],
    ],
    'may be the second Friday of each month': [
      ['0 1 * * FRI#2', 'UTC', '2026-01-01T00:00:00Z', 60],
      ['2026-01-09T01:00', '2026-02-13T01:00'],
    ],
    'may never come': [['0 1 30 2 *', 'UTC', '2026-01-01T00:00:00Z', 700], []],
    'counts its very beginning': [['0 1 * * *', 'UTC', '2026-01-02T01:00:00Z', 1], ['2026-01-02T01:00']],
  };
  for (const [sentence, [asked, expected]] of Object.entries(known)) {
    it(sentence, () => expect(openings(...asked)).to.deep.equal(expected));
  }

  /** Zones with every kind of change: an hour, half an hour, at midnight, in the south, none, at another hour. */
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'America/Santiago',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Africa/Casablanca',
    'Asia/Tokyo',
    'America/St_Johns',
    'Pacific/Chatham',
    'UTC',
  ];

  it('never opens earlier, later, more often or more rarely than the clock of its zone says', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom(0, 1, 15, 29, 30, 59),
        fc.subarray([0, 1, 2, 3, 4, 5, 6], { minLength: 1 }),
        // A change of the clocks is in one of seven weeks.
        fc.integer({ min: 0, max: 3 * 365 }),
        (timeZone, hour, minute, weekdays, start) => {
          const from = Date.UTC(2025, 0, 1) + start * day;
          const until = from + 8 * day;
          const window = { schedule: `${minute} ${hour} * * ${weekdays.join(',')}`, duration: '1h', timeZone };
          const expected: number[] = [];
          for (let noon = from - 9 * day; noon < until + 2 * day; noon += day) {
            const wanted = { ...wallClock('UTC', noon), hour, minute };
            const weekday = new Date(Date.UTC(wanted.year, wanted.month - 1, wanted.day)).getUTCDay();
            const moment = weekdays.includes(weekday) ? firstMoment(timeZone, wanted) : null;
            if (moment !== null && moment < until) expected.push(moment);
          }
          const { before, since } = opened(window, from, until);
          expect(before).to.deep.equal(expected.filter((one) => one < from).slice(-1));
          expect(since).to.deep.equal(expected.filter((one) => one >= from));
        },
      ),
      propertyParameters(100),
    );
  });
});
