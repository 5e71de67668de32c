import type { barriersOf as right } from '../../../../src/moco/placement.ts';

export * from '../../../../src/moco/placement.ts';

/** Other members are in nobody's way. */
export const barriersOf: typeof right = () => [];
