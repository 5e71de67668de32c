import * as z from 'zod';

/** Without repetition of a unit, and in the order in which Kubernetes writes them. */
const pattern = '^([0-9]{1,4}h)?([0-9]{1,5}m)?([0-9]{1,7}s)?$';
const longestSeconds = 9_999_999;
const expected = 'a duration such as "90s", "5m" or "24h", or a whole number of seconds';

export type Duration = string | number;

/** The seconds of a duration such as `1h30m`, or of a number of seconds. `null` if it is neither. */
export function secondsOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value <= longestSeconds ? value : null;
  if (typeof value !== 'string' || value === '') return null;
  const [whole, hours = '0', minutes = '0', seconds = '0'] = new RegExp(pattern).exec(value) ?? [];
  if (whole === undefined) return null;
  return Number.parseInt(hours, 10) * 3600 + Number.parseInt(minutes, 10) * 60 + Number.parseInt(seconds, 10);
}

/** Numbers and texts have their own limits here: a rule in CEL would cost too much in a list. */
export const duration = (description: string) =>
  z
    .custom<Duration>((value) => secondsOf(value) !== null, expected)
    .meta({
      'x-kubernetes-int-or-string': true,
      minimum: 0,
      maximum: longestSeconds,
      minLength: 1,
      pattern,
      description,
    });
