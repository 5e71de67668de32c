import { type Parsed, unreadable, value } from './parsed.ts';

const millisecondsOf: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Reads a duration above zero as Go writes them (`15s`, `1m30s`, `1.5h`, `500ms`), in milliseconds. */
export function parseDuration(text: string): Parsed<number> {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const milliseconds = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (millisecondsOf[unit ?? ''] ?? 0),
    0,
  );
  const whole = parts.map(([part]) => part).join('') === text;
  return whole && milliseconds > 0
    ? value(milliseconds)
    : unreadable('a duration above zero such as 15s, 1m30s or 500ms');
}
