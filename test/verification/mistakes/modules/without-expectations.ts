import type { unseen as right } from '../../../../src/controller/observe/own-writes.ts';

export * from '../../../../src/controller/observe/own-writes.ts';

/** Forgets what it has just written. */
export const unseen: typeof right = () => [];
