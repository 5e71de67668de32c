import { always, beginning, endsAfterFaults, endsWithoutFaults, goesAsPlanned } from './histories.ts';

// Thousands of histories of a rollout in a closed loop; as many as PROPERTY_RUNS says in a longer run.

describe('thousands of random rollouts', () => {
  it('end without faults, replicas first in descending order, with one switchover at most', () => {
    always(500, beginning, endsWithoutFaults);
  });

  it('with faults break no invariant, and end once the faults are repaired', () => {
    always(750, beginning, endsAfterFaults);
  });

  it('take exactly the steps of their plan', () => {
    always(500, beginning, goesAsPlanned);
  });
});
