/**
 * Runs calls that are useless without each other. When one fails, its error is thrown at once, and the others are
 * aborted and not retried.
 */
export async function allOrAbort<T>(
  signal: AbortSignal,
  begin: (signal: AbortSignal) => readonly Promise<T>[],
): Promise<readonly T[]> {
  const calls = new AbortController();
  const stop = (): void => calls.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.all(begin(calls.signal));
  } catch (error) {
    calls.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
