import type * as fc from 'fast-check';

const { PROPERTY_RUNS, SEED, REPLAY_PATH } = process.env;

/** More runs with PROPERTY_RUNS; a failure prints its seed and path, which SEED and REPLAY_PATH set. */
export function propertyParameters(numRuns: number): fc.Parameters<unknown> {
  return {
    numRuns: Number(PROPERTY_RUNS ?? numRuns),
    ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
  };
}
