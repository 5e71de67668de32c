import type { Guard } from '../control-plane/guard.ts';
import { type EventLoopDelay, MeasuredProcess, type Usage } from './measured-process.ts';
import type { Variant } from './variants.ts';

/** How one program has taken in a fleet, by the time it has nothing left to do. */
export interface Listing {
  /** From its first request for a list to the end of the last one. */
  readonly listSeconds: number;
  readonly duringList: EventLoopDelay;
  /** From the start of the process until its cache was in sync. */
  readonly startSeconds: number;
  /** While it looked at every cluster for the first time. */
  readonly firstPassesSeconds: number;
  readonly duringFirstPasses: EventLoopDelay;
  readonly usage: Usage;
  readonly warnings: number;
}

const lookMilliseconds = 1_000;
/**
 * Who reads less than this a look, for so many in a row, has nothing left to do: a lease and bookmarks take some. What a
 * program at rest takes of a core says nothing, since looking at its event loop is most of that.
 */
const quietBytes = 50_000;
const quietLooks = 8;
const mostLooks = 600;

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Starts a program and waits until it has taken in everything. Whoever calls ends it. */
export async function listed(
  variant: Variant,
  more: readonly string[],
  guard: Guard,
  started: string,
): Promise<{ readonly program: MeasuredProcess; readonly listing: Listing }> {
  const start = performance.now();
  const program = new MeasuredProcess([...variant.command, ...more], guard, variant.environment);
  await program.logged(started);
  const listStart = performance.now();
  await program.eventLoopDelay();
  await program.logged('the cache is in sync');
  const synced = performance.now();
  const duringList = await program.eventLoopDelay();
  await quiet(program, quietLooks);
  const firstPassesSeconds = (performance.now() - synced) / 1000 - (quietLooks * lookMilliseconds) / 1000;
  const listing = {
    startSeconds: (synced - start) / 1000,
    listSeconds: (synced - listStart) / 1000,
    duringList,
    firstPassesSeconds,
    duringFirstPasses: await program.eventLoopDelay(),
    usage: program.usage(),
    warnings: program.count('"level":"warn"') + program.count('"level":"error"'),
  };
  return { program, listing };
}

/** Resolves once it has had nothing left to do for so many looks in a row, a second each. Rejects where it always has. */
export async function quiet(program: MeasuredProcess, looks: number): Promise<void> {
  let before = program.usage().readBytes;
  for (let look = 0, inARow = 0; inARow < looks; look += 1) {
    if (look === mostLooks) throw new Error(`expected a program at rest, it never was:\n${program.tail}`);
    await pause(lookMilliseconds);
    const { readBytes } = program.usage();
    inARow = readBytes - before < quietBytes ? inARow + 1 : 0;
    before = readBytes;
  }
}
