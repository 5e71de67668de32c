import { fieldOrder } from './log-fields.ts';

const levelWidth = 5;
const timeOfDay = /T(\d\d:\d\d:\d\d\.\d\d\d)Z$/;

/**
 * Turns one JSON line of the logger into a readable one: `10:23:45.123 info  evicted  cluster=ns/test step=evict`.
 * An error shows as its message; at level error its stack follows, indented. Times are UTC. A line that isn't JSON
 * is handed through as it is.
 */
export function formatLogLine(line: string): string {
  const record = parse(line);
  if (record === null) return line;
  const { time, level, msg, ...fields } = record;
  const clock = timeOfDay.exec(String(time))?.[1] ?? String(time);
  const named = [...fieldOrder.filter((name) => name in fields), ...Object.keys(fields).filter(isFurther)];
  const shown = named.map((name) => `${name}=${showValue(fields[name])}`);
  const words = [
    clock,
    String(level).padEnd(levelWidth),
    typeof msg === 'string' ? msg : '',
    ...(shown.length > 0 ? ['', ...shown] : []),
  ];
  return `${words.join(' ')}\n${level === 'error' ? stackOf(fields['error']) : ''}`;
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === 'object' && record !== null ? (record as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isFurther(name: string): boolean {
  return !fieldOrder.some((known) => known === name);
}

function showValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value) return showValue(value.message);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error) || typeof error.stack !== 'string') return '';
  const frames = error.stack.split('\n').filter((line) => line.trimStart().startsWith('at '));
  return frames.map((frame) => `    ${frame.trim()}\n`).join('');
}
