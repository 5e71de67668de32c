import type { Guard } from '../../../test/support/control-plane/guard.ts';
import { type EventLoopDelay, MeasuredProcess, type Usage } from './measured-process.ts';
import type { Variant } from './variants.ts';

/** How one program listed a fleet, measured once it is idle. */
export interface Listing {
  readonly duringList: EventLoopDelay;
  /** While it decided about every cluster for the first time. */
  readonly duringFirstPasses: EventLoopDelay;
  readonly usage: Usage;
}

const checkMilliseconds = 1_000;
/**
 * A program is idle after this many consecutive checks with fewer bytes read than this, because a lease and bookmarks
 * always cost some. The CPU time of an idle program shows nothing: it is mostly spent on measuring its event loop.
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

/** Resolves once the program was idle in this many checks in a row, one a second. Rejects if it never is. */
export async function quiet(program: MeasuredProcess, checks: number): Promise<void> {
  let before = program.usage().readBytes;
  for (let check = 0, inARow = 0; inARow < checks; check += 1) {
    if (check === mostChecks) throw new Error(`expected a program at rest, it never was:\n${program.tail}`);
    await pause(checkMilliseconds);
    const { readBytes } = program.usage();
    inARow = readBytes - before < quietBytes ? inARow + 1 : 0;
    before = readBytes;
  }
}
