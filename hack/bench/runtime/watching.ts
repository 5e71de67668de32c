import type { Guard } from '../../../test/support/control-plane/guard.ts';
import { type EventLoopDelay, MeasuredProcess, type Usage } from './measured-process.ts';
import type { Variant } from './variants.ts';

/** What a program needed to list a fleet. All values were read once the program was idle. */
export interface Listing {
  readonly duringList: EventLoopDelay;
  /** The delay while the program decided about every cluster for the first time. */
  readonly duringFirstPasses: EventLoopDelay;
  readonly usage: Usage;
}

const checkMilliseconds = 1_000;
/**
 * A program counts as idle after several consecutive checks in which it read fewer bytes than this. A lease and
 * bookmarks always cost some bytes. The CPU time of an idle program is no indicator: most of it is spent on measuring
 * the event loop.
 */
const quietBytes = 50_000;
const quietChecks = 8;
const mostChecks = 600;

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Starts a program and waits until it is idle. The caller stops it. */
export async function listed(
  variant: Variant,
  more: readonly string[],
  guard: Guard,
  started: string,
): Promise<{ readonly program: MeasuredProcess; readonly listing: Listing }> {
  const program = new MeasuredProcess([...variant.command, ...more], guard, variant.environment);
  await program.logged(started);
  await program.eventLoopDelay();
  await program.logged('Cache is in sync');
  const duringList = await program.eventLoopDelay();
  await quiet(program, quietChecks);
  const listing = { duringList, duringFirstPasses: await program.eventLoopDelay(), usage: program.usage() };
  return { program, listing };
}

/**
 * Resolves once the program was idle in this many consecutive checks, one per second. Rejects if that never happens.
 */
export async function quiet(program: MeasuredProcess, checks: number): Promise<void> {
  let before = program.usage().readBytes;
  for (let check = 0, inARow = 0; inARow < checks; check += 1) {
    if (check === mostChecks) throw new Error(`expected an idle program, but it never was idle:\n${program.tail}`);
    await pause(checkMilliseconds);
    const { readBytes } = program.usage();
    inARow = readBytes - before < quietBytes ? inARow + 1 : 0;
    before = readBytes;
  }
}
