// Times of a fleet are Unix seconds: they come from objects in the API server, so that every leader has the same.

/** As in the spec: `24h`, `1h30m`, `90s` as `1m30s`. */
export function durationText(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join('') || '0s'
  );
}

const daysIn400Years = 146_097;
/** From 1 March of the year 0 to 1 January 1970. */
const daysBefore1970 = 719_468;

/**
 * RFC 3339 in UTC, in whole seconds. Years are counted from March, so that the leap day is the last one of a year and
 * 400 of them repeat.
 */
export function timeText(unixSeconds: number): string {
  const seconds = Math.ceil(unixSeconds);
  const days = Math.floor(seconds / 86_400) + daysBefore1970;
  const era = Math.floor(days / daysIn400Years);
  const day = days - era * daysIn400Years;
  const year = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365);
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const inDay = seconds - Math.floor(seconds / 86_400) * 86_400;
  const date = [era * 400 + year + (month <= 2 ? 1 : 0), two(month), two(dayOfMonth)].join('-');
  return `${date}T${[inDay / 3600, (inDay % 3600) / 60, inDay % 60].map(two).join(':')}Z`;
}

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
