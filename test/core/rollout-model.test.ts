import {
  always,
  beginning,
  endsAfterFaults,
  endsWithoutFaults,
  goesAsPlanned,
} from '../verification/explorer/histories.ts';

// A few histories, among the tests that take seconds; test/verification/explorer/histories.test.ts plays thousands.

const histories = 100;

describe('random rollouts', () => {
  it('end without faults, replicas first in descending order, with one switchover at most', () => {
    always(histories, beginning, endsWithoutFaults);
  });

  it('with faults break no invariant, and end once the faults are repaired', () => {
    always(histories, beginning, endsAfterFaults);
  });

  it('take exactly the steps of their plan', () => {
    always(histories, beginning, goesAsPlanned);
  });
});
