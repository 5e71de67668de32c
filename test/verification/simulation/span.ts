import type { Chance } from './chance.ts';

/** Milliseconds, of so many seconds. */
export const span = (chance: Chance, fromSeconds: number, toSeconds: number): number =>
  Math.round(chance.between(fromSeconds, toSeconds) * 1000);
