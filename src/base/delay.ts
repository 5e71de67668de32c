import type { World } from './world.ts';

/** Resolves after this time, or as soon as the signal is aborted; `false` means that the signal came first. */
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
 * The wait after this many failures (from 1 up). It doubles from the first to the longest wait. A random value between
 * half and all of it is used, so that callers that failed together do not retry together.
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
 * Runs calls that depend on each other, such as those of a `Promise.all`. When one fails, its error is thrown at once,
 * and the others are aborted and not retried.
 */
export async function allOrAbort<T>(signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const calls = new AbortController();
  // Linked by hand as in `TimeLimit`, because signals of AbortSignal.any are collected late.
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
