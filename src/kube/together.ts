/**
 * Calls of which one is of no use without the others. Where one fails its failure is thrown at once, and the others are
 * aborted: nobody waits for them any more, so they are neither gone on with nor tried again.
 */
export async function together<T>(
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
