import { setTimeout as delay } from 'node:timers/promises';
import { patienceMilliseconds } from '../patience.ts';

const shortestPauseMilliseconds = 50;
const longestPauseMilliseconds = 1000;

type NotYet = undefined | null | false;

export interface Patience {
  readonly milliseconds?: number;
  /** What there was instead, for the error. */
  readonly got?: () => string;
}

/**
 * Polls until there is an answer, for conditions that can only be polled. Throws an error with the sentence after the
 * milliseconds. An answer that takes long, such as kubectl's, is asked for a third of the time at most: what is waited
 * for needs the machine as well.
 */
export async function until<T>(
  sentence: string,
  ask: () => Promise<T | NotYet> | T | NotYet,
  { milliseconds = patienceMilliseconds, got }: Patience = {},
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    const now = performance.now();
    if (now - start > milliseconds) {
      throw new Error(
        `Expected that ${sentence} within ${milliseconds} ms${got === undefined ? '' : `, got ${got()}`}`,
      );
    }
    const pause = Math.min(longestPauseMilliseconds, 2 * (now - askedAt));
    await delay(Math.max(shortestPauseMilliseconds, pause));
  }
}
