import type { World } from './world.ts';

/** Resolves to `true` after this time, or to `false` as soon as the signal is aborted. */
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
 * How long to wait after this many failures (from 1 up). The wait doubles with each failure, from the first to the
 * longest. The result is a random value between half of the wait and the whole wait, so that callers that failed
 * together do not retry together.
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
 * Runs calls that depend on each other, such as those of a `Promise.all`. When one call fails, its error is thrown at
 * once, and the others are aborted and not retried.
 */
export async function allOrAbort<T>(signal: AbortSignal, begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const calls = new AbortController();
  // The signals are linked by hand, as in `TimeLimit`, because signals of AbortSignal.any are garbage-collected late.
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
