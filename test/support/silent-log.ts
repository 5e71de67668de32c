import type { Log } from '../../src/base/world.ts';

function ignore(): void {}

/** The log of a program whose output is not needed. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
