import { roughly } from './durations.ts';

const reminderMilliseconds = 10_000;

/** Prints a line. */
export type Say = (line: string) => void;

/**
 * Says what is being done when it begins, and again now and then.
 *
 * @param more how far it is by now
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
