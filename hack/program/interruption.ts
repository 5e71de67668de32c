/** The error when a signal has asked the program to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface Interruption {
  /** The first signal aborts it with an {@link Interrupted}. */
  readonly signal: AbortSignal;
  /** Settles like `work`, unless a signal comes first: then it rejects, and `work` continues. */
  readonly race: <T>(work: Promise<T>) => Promise<T>;
}

/** The exit code after SIGINT: by convention 128 plus the number of the signal. */
export const interruptedExitCode = 130;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * From now on the first signal requests a shutdown, and the second one ends this program at once. Guards then stop what
 * the program has started.
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
