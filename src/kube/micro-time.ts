const millisecondsPerDay = 86_400_000;
const daysPerEra = 146_097;
const yearsPerEra = 400;
/** From 0000-03-01, where eras of the Gregorian calendar are counted from, to 1970-01-01. */
const daysBefore1970 = 719_468;

/**
 * A moment as Kubernetes' MicroTime, such as `2026-07-01T12:00:00.123000Z`; leases and events are refused with
 * anything shorter. Reckoned, so that nothing here has a clock to ask by mistake.
 */
export function microTime(wallMilliseconds: number): string {
  const days = Math.floor(wallMilliseconds / millisecondsPerDay);
  const milliseconds = Math.floor(wallMilliseconds) - days * millisecondsPerDay;
  const seconds = Math.floor(milliseconds / 1000);
  const { year, month, day } = civil(days);
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
  const time = `${digits(Math.floor(seconds / 3600), 2)}:${digits(Math.floor(seconds / 60) % 60, 2)}:${digits(seconds % 60, 2)}`;
  return `${date}T${time}.${digits(milliseconds % 1000, 3)}000Z`;
}

/** Years begin in March here, so that the leap day is the last one of a year. */
function civil(daysSince1970: number): { readonly year: number; readonly month: number; readonly day: number } {
  const days = daysSince1970 + daysBefore1970;
  const era = Math.floor(days / daysPerEra);
  const dayOfEra = days - era * daysPerEra;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: era * yearsPerEra + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
