/**
 * One look of a stand-in: it yields its writes, in order, and is told of each whether it was done. Returns the
 * milliseconds after which to look again, `null` for only after a change; `failed` if a write was not done.
 */
export type Look<Write> = Generator<Write, number | null | 'failed', boolean>;

/** Yields them up to the first that is not done; returns whether all were. */
export function* all<Write>(writes: readonly Write[]): Generator<Write, boolean, boolean> {
  for (const write of writes) if (!(yield write)) return false;
  return true;
}

/** Over a network. Rejects with the first error of a look that fails. */
export async function carryOut<Write>(
  look: Look<Write>,
  perform: (write: Write) => Promise<unknown>,
): Promise<number | null> {
  let error: unknown = null;
  let next = look.next();
  while (next.done !== true) {
    const isDone = await perform(next.value).then(
      () => true,
      (refusal: unknown) => {
        error ??= refusal;
        return false;
      },
    );
    next = look.next(isDone);
  }
  if (next.value === 'failed') throw error;
  return next.value;
}

/** At once, where `perform` says whether a write was done. */
export function carryOutAtOnce<Write>(
  look: Look<Write>,
  perform: (write: Write) => boolean,
  retryMilliseconds: number,
): number | null {
  let next = look.next();
  while (next.done !== true) next = look.next(perform(next.value));
  return next.value === 'failed' ? retryMilliseconds : next.value;
}
