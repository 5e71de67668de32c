import { always, beginning, endsAfterFaults, endsWithoutFaults, goesAsPlanned } from './model/histories.ts';

// A few histories, among the tests that take seconds; test/explorer/histories.test.ts plays thousands.

const histories = 100;
/** Far more than they take, since a machine can be busy. */
const patienceMilliseconds = 600_000;

describe('a rollout in a closed loop', () => {
  it('without faults ends, replicas first in descending order, with one switchover at most', () => {
    always(histories, beginning, endsWithoutFaults);
  });

  it('with faults breaks no invariant, and ends once they have been repaired', () => {
    always(histories, beginning, endsAfterFaults);
  });

  it('goes as planned, step by step', () => {
    always(histories, beginning, goesAsPlanned);
  });
}).timeout(patienceMilliseconds);
