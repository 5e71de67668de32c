import type { World } from './world.ts';

/** Resolves after that long, or as soon as the signal is aborted; `false` says that it was the signal. */
export function delay(world: World, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const aborted = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = world.timer(milliseconds, () => {
      signal?.removeEventListener('abort', aborted);
      resolve(true);
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

export interface BackoffOptions {
  readonly firstMilliseconds: number;
  readonly longestMilliseconds: number;
}

/**
 * The wait after so many failures (from 1 up): doubling from the first to the longest, and of that a random part
 * between a half and the whole, so that those who failed together don't come back together.
 */
export function backoffMilliseconds(
  failures: number,
  { firstMilliseconds, longestMilliseconds }: BackoffOptions,
  random: number,
): number {
  const whole = Math.min(longestMilliseconds, firstMilliseconds * 2 ** Math.min(failures - 1, 30));
  return whole * (0.5 + random / 2);
}

/**
 * Runs calls that are useless without each other, such as those of a `Promise.all`. When one fails, its error is thrown
 * at once, and the others are aborted and not retried.
 */
export async function allOrAbort<T>(signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const calls = new AbortController();
  // By hand, as in `TimeLimit`: signals of AbortSignal.any are garbage that is collected late.
  const stop = (): void => calls.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await begin(calls.signal);
  } catch (error) {
    calls.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
