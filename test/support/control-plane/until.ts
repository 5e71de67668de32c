import { setTimeout as delay } from 'node:timers/promises';

const shortestPauseMilliseconds = 50;
const longestPauseMilliseconds = 1000;

/**
 * Polls until the answer is not `undefined`, for conditions that can only be polled. Throws the message of `overdue`
 * after `deadlineMilliseconds`. An answer that takes long, such as kubectl's, is asked for a third of the time at most:
 * what is waited for needs the machine as well.
 */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  deadlineMilliseconds: number,
  overdue: () => string,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const answer = await ask();
    if (answer !== undefined) {
      return answer;
    }
    const now = performance.now();
    if (now - start > deadlineMilliseconds) {
      throw new Error(overdue());
    }
    const pause = Math.min(longestPauseMilliseconds, 2 * (now - askedAt));
    await delay(Math.max(shortestPauseMilliseconds, pause));
  }
}
