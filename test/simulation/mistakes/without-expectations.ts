import type { unseen as right } from '../../../src/controller/own-writes.ts';

/** Has forgotten what it has just written. */
export const unseen: typeof right = () => [];
