import type { Host } from '../host.ts';

const interruptedStatus = 130;

/** Runs until the user interrupts. Resolves to the exit status. Rejects as `work` does. */
export async function untilInterrupted(host: Host, work: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const stop = new AbortController();
  const unhook = host.onInterrupt(() => stop.abort());
  try {
    await work(stop.signal);
  } finally {
    unhook();
    stop.abort();
  }
  return interruptedStatus;
}
