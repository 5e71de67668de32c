const secondsAMinute = 60;
const shortestWithoutTenths = 60;
const reminderMilliseconds = 10_000;

/** A rounded duration, for example `0.4 s`, `12.3 s` or `1m32s`. */
export function roughly(durationMilliseconds: number): string {
  const tenths = Math.round(Math.max(0, durationMilliseconds) / 100);
  if (tenths < shortestWithoutTenths * 10) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(tenths / 10);
  return `${Math.floor(seconds / secondsAMinute)}m${String(seconds % secondsAMinute).padStart(2, '0')}s`;
}

/** Prints a line. */
export type Say = (line: string) => void;

/**
 * Prints what is being done, at the beginning and repeatedly after that.
 *
 * @param more returns the progress so far
 */
export async function progressing<T>(
  say: Say,
  title: string,
  work: () => Promise<T>,
  more: () => string = () => '',
): Promise<T> {
  const start = performance.now();
  say(`${title} ...`);
  const timer = setInterval(
    () => say(`${title}${more()} ... ${roughly(performance.now() - start)}`),
    reminderMilliseconds,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
