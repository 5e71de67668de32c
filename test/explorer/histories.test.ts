import { always, beginning, endsAfterFaults, endsWithoutFaults, goesAsPlanned } from '../core/model/histories.ts';

// Thousands of histories of a rollout in a closed loop; as many as PROPERTY_RUNS says in a longer run.

/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 7_200_000;

describe('a long row of rollouts in a closed loop', () => {
  it('without faults end, replicas first in descending order, with one switchover at most', () => {
    always(500, beginning, endsWithoutFaults);
  });

  it('with faults break no invariant, and end once they have been repaired', () => {
    always(5_000, beginning, endsAfterFaults);
  });

  it('go as planned, step by step', () => {
    always(500, beginning, goesAsPlanned);
  });
}).timeout(patienceMilliseconds);
