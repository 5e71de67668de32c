import type { writeIntent as right } from '../../../../src/controller/status/write.ts';

export * from '../../../../src/controller/status/write.ts';

/** Says that the step is written down, and writes nothing. */
export const writeIntent: typeof right = () => Promise.resolve('written');
