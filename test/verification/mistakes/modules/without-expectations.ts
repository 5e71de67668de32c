import type { unseen as right } from '../../../../src/controller/facts/own-writes.ts';

export * from '../../../../src/controller/facts/own-writes.ts';

/** Forgets what it has just written. */
export const unseen: typeof right = () => [];
