import type { onServerClock as right } from '../../../../src/kube/server-clock.ts';

/** Trusts the clock of its machine. */
export const onServerClock: typeof right = (world) => world;
