/** A signal asked the program to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface Interruption {
  /** Aborted, with an {@link Interrupted}, by the first signal. */
  readonly signal: AbortSignal;
  /** Rejects if the signal comes first. `work` continues regardless. */
  readonly race: <T>(work: Promise<T>) => Promise<T>;
}

/** By convention 128 plus the number of SIGINT. */
export const interruptedExitCode = 130;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * From now on the first signal requests a shutdown, and the second one ends this program at once; guards then stop what
 * it has started.
 */
export function interruption(): Interruption {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  for (const name of signals) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(interruptedExitCode);
      const reason = new Interrupted(`ended by ${name}`);
      controller.abort(reason);
      reject(reason);
    });
  }
  return { signal: controller.signal, race: (work) => Promise.race([work, promise]) };
}
