import type { writeIntent as right } from '../../../../src/controller/status/write-intent.ts';

/** Says that the step is written down, and writes nothing. */
export const writeIntent: typeof right = () => Promise.resolve('written');
