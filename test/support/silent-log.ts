import type { Log } from '../../src/base/world.ts';

function ignore(): void {}

/** Of a program whose lines nobody reads. */
export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
