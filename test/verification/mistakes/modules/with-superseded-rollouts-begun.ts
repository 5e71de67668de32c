import type { hasBegun as right } from '../../../../src/controller/fleet/fleet-standing.ts';

export * from '../../../../src/controller/fleet/fleet-standing.ts';

/** Whatever the revision of the rollout is. */
export const hasBegun: typeof right = (one) => one !== undefined && (one.begun || one.failing);
