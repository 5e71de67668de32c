import { setTimeout as delay } from 'node:timers/promises';

const pauseMilliseconds = 50;

/**
 * Asks again and again until the answer is something else than `undefined`. For conditions that can only be asked for.
 * Throws what `overdue` says once `deadlineMilliseconds` have passed.
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
