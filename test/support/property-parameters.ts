import type * as fc from 'fast-check';

const { PROPERTY_RUNS, REPLAY_PATH } = process.env;

/** More runs with PROPERTY_RUNS. A failure prints its seed and path, which SEED and REPLAY_PATH set. */
export function propertyParameters(numRuns: number): fc.Parameters<unknown> {
  return {
    numRuns: Number(PROPERTY_RUNS ?? numRuns),
    ...(REPLAY_PATH === undefined ? {} : { path: REPLAY_PATH }),
  };
}
