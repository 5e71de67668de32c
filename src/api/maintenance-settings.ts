import { Cron } from 'croner';
import * as z from 'zod';
import { milliseconds } from '../base/json.ts';
import { duration, type Infer, listOf, struct, text, time, validations, whole } from './schema.ts';

// The times at which working members may be replaced: windows that repeat, and blackouts.

const months = 'JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC';
const weekdays = 'SUN|MON|TUE|WED|THU|FRI|SAT';
const hour = '([01]?[0-9]|2[0-3])';
const monthday = '(0?[1-9]|[12][0-9]|3[01])';
const month = `(0?[1-9]|1[0-2]|${months})`;
const weekday = `([0-7]|${weekdays})`;
/**
 * Returns the pattern of a list. Each entry is a value, a range, `*`, or another word that croner accepts in the field,
 * and may have a step.
 */
const field = (value: string, more = '') => {
  const one = `([*?]|${value}(-${value})?${more})(/[0-9]{1,2})?`;
  return `${one}(,${one})*`;
};

/**
 * The pattern requires a minute and hours, so that a window opens at most a few times a day and the next openings are
 * found quickly. It is valid both for RE2, which the API server uses, and for JavaScript.
 */
const schedulePattern = `^(?i:[0-5]?[0-9] ${hour}(,${hour}){0,5} ${field(monthday, '|L|LW|(0?[1-9]|1[0-9]|2[0-8])W')} ${field(month)} ${field(weekday, `|${weekday}(#[1-5L]|L)`)})$`;
/** Matches schedules for the 30th and 31st of months that do not have these days, whatever the weekday. */
const neverPattern =
  '^[^ ]+ [^ ]+ (?i:(30|31)(,(30|31))* (0?2|FEB)|31 (0?[2469]|11|FEB|APR|JUN|SEP|NOV)(,(0?[2469]|11|FEB|APR|JUN|SEP|NOV))*) [*?]$';
const schedule =
  'a schedule of five fields, of which the first is a minute and the second an hour or up to six hours, such as "0 1 * * TUE-THU"';
const longestZone = 64;
const zonePattern = '^[A-Za-z][A-Za-z0-9_+/-]*$';
const zone = 'the name of a time zone of the IANA database, such as "Asia/Tokyo"';

/** The default of `timeZone`. */
const defaultZone = 'UTC';

export const maintenanceWindow = struct(
  {
    schedule: z
      .string(schedule)
      .max(128, schedule)
      .refine((value) => new RegExp(schedulePattern).test(value) && isSchedule(value), schedule)
      .meta({
        ...validations(
          { rule: `self.matches('${schedulePattern}')`, message: `must be ${schedule}` },
          { rule: `!self.matches('${neverPattern}')`, message: 'must be a schedule with a day that its months have' },
        ),
        description:
          'When the window opens, as minute, hour, day of the month, month and day of the week. The day is the one on ' +
          'which the window opens, even if it closes on the next. A time that daylight saving skips is the first ' +
          'moment after it, and of a time that occurs twice the first counts.',
      }),
    duration: duration('How long the window stays open, such as "4h" or "90m", whatever the clocks do meanwhile.'),
    timeZone: z
      .string(zone)
      .max(longestZone, zone)
      .refine(isTimeZone, zone)
      .meta({
        // If the API server does not know the time zone, the rule itself fails with an error, because a CEL expression
        // cannot catch it. The message is then `unknown time zone Asia/Tokio evaluating rule: ` followed by this text.
        ...validations({
          rule: `self.matches('${zonePattern}') && self != 'Local' && timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0`,
          message: `expected ${zone}`,
        }),
        description: `The name of the time zone in the IANA database. Defaults to ${defaultZone}.`,
      })
      .exactOptional(),
  },
  'A recurring time at which working members may be updated.',
);

const blackout = struct(
  {
    from: time('When the blackout begins.'),
    until: time('When the blackout ends.'),
    reason: text(256, 'Why there is a blackout, for the people who wait for its end.'),
  },
  'A time at which no working member is updated.',
)
  .refine(({ from, until }) => (milliseconds(until) ?? 0) > (milliseconds(from) ?? 0), {
    path: ['until'],
    message: 'a time after the beginning of the blackout',
  })
  .meta(validations({ rule: 'self.until > self.from', message: 'a blackout must end after it begins' }));

export type MaintenanceWindow = Infer<typeof maintenanceWindow>;

/** The settings in force. */
export interface MaintenanceSettings {
  readonly maintenanceWindows: readonly MaintenanceWindow[];
  readonly blackouts: readonly Infer<typeof blackout>[];
  readonly expectedMemberSeconds: number;
  /** The restart windows of the setting `inPlace`. */
  readonly restartWindows: readonly MaintenanceWindow[];
}

/** By default working members may be replaced at any time. */
export const noMaintenance: MaintenanceSettings = {
  maintenanceWindows: [],
  blackouts: [],
  expectedMemberSeconds: 300,
  restartWindows: [],
};

export const maintenanceFields = {
  maintenanceWindows: listOf(
    maintenanceWindow,
    8,
    'The times at which working members may be updated. A step begins only if its expected time fits into what is ' +
      'left of the window. Members that are down are replaced at any time, except those that are only waiting to ' +
      'start. An empty list means at any time, as if no other source had windows.',
  ),
  blackouts: listOf(
    blackout,
    32,
    'Times at which no working member is updated, whatever the maintenance windows say. A step begins only if its ' +
      'expected time fits before the next blackout.',
  ),
  expectedMemberSeconds: whole(
    1,
    86_400,
    'The number of seconds that a member is expected to be unavailable while it is updated, as long as no time has ' +
      'been measured for the cluster. A step begins only if this time fits into the maintenance window. Defaults to ' +
      `${noMaintenance.expectedMemberSeconds}.`,
  ),
};

/**
 * The times at which a window opens, in milliseconds since 1970: the last time before `from`, and then every time from
 * that moment on. Finding one time takes about 30 µs. Throws if the window is invalid.
 */
export function* opensAt(
  { schedule: pattern, timeZone = defaultZone }: MaintenanceWindow,
  from: number,
): Generator<number> {
  const cron = cronOf(pattern, timeZone);
  /* oxlint-disable no-restricted-globals */
  const [before] = cron.previousRuns(1, new Date(from));
  let at = cron.nextRun(new Date(from - 1));
  /* oxlint-enable no-restricted-globals */
  if (before !== undefined && before.getTime() < from) yield before.getTime();
  for (; at !== null; at = cron.nextRun(at)) yield at.getTime();
}

/** Each time of day occurs once a day, regardless of daylight saving time. */
const cronOf = (pattern: string, timezone: string): Cron =>
  new Cron(pattern, { mode: '5-part', fixedTimeRule: 'no-wildcard', timezone, paused: true });

/** For the fields of a schedule, whether its day ever comes. Cached, because finding that out takes milliseconds. */
const knownDays = new Map<string, boolean>();
const mostKnown = 1000;

function isSchedule(pattern: string): boolean {
  const days = pattern.split(' ').slice(2).join(' ');
  const isKnown = knownDays.get(days);
  if (isKnown !== undefined) return isKnown;
  if (knownDays.size >= mostKnown) knownDays.clear();
  const comes = everComes(pattern);
  knownDays.set(days, comes);
  return comes;
}

/** Whether the day of the schedule ever comes. February 31, for example, never comes. */
function everComes(pattern: string): boolean {
  try {
    return cronOf(pattern, defaultZone).nextRun() !== null;
  } catch {
    return false;
  }
}

/**
 * Time zones that are known to exist. Cached, because reading a time zone for the first time takes longer than a
 * decision. The case of a name does not matter.
 */
const knownZones = new Set<string>();

function isTimeZone(name: string): boolean {
  if (knownZones.has(name)) return true;
  if (!new RegExp(zonePattern).test(name)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  if (knownZones.size >= mostKnown) knownZones.clear();
  knownZones.add(name);
  return true;
}
