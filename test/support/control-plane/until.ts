import { setTimeout as delay } from 'node:timers/promises';

const pauseMilliseconds = 50;

/**
 * Polls until the answer is not `undefined`, for conditions that can only be polled. Throws the message of `overdue`
 * after `deadlineMilliseconds`.
 */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  deadlineMilliseconds: number,
  overdue: () => string,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) {
      return answer;
    }
    if (performance.now() - start > deadlineMilliseconds) {
      throw new Error(overdue());
    }
    await delay(pauseMilliseconds);
  }
}
