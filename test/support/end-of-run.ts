const closers: (() => Promise<unknown>)[] = [];

/** For what the test files of a process share: it is closed after the last file, in reverse order. */
export function atEndOfRun(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** Closes everything even if something fails to close. Returns the errors. */
export async function endRun(): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (const close of closers.splice(0).toReversed()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}
