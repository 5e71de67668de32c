import type { writeIntent as right } from '../../../../src/controller/status/write-status.ts';

export * from '../../../../src/controller/status/write-status.ts';

/** Says that the step is written down, and writes nothing. */
export const writeIntent: typeof right = () => Promise.resolve('written');
