import type { takesSlot as right } from '../../../../src/controller/fleet/fleet-standing.ts';

export * from '../../../../src/controller/fleet/fleet-standing.ts';

export const takesSlot: typeof right = () => false;
