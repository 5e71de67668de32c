import { expect } from 'chai';
import { measuredMembers } from '../../../src/controller/facts/maintenance-facts.ts';

const each = (...seconds: readonly number[]) => seconds.map((one, ordinal) => ({ ordinal, seconds: one }));
const startedAt = '2026-07-01T12:00:00.000000Z';
const progress = { revision: 'b', from: 'a', startedAt, disruptions: 0, switchovers: 0 };
const inProgress = { ...progress, lastProgressAt: startedAt, verified: false, takenDown: [] };
const past = { ...progress, finishedAt: '2026-07-01T12:01:30Z', outcome: 'Complete', disruptions: 3 } as const;

describe('the measured time of a member', () => {
  it('is unknown before the first rollout, and after one that did not complete', () => {
    const failed = { ...past, outcome: 'Failing', memberDurations: each(1) };
    for (const status of [{}, { history: [past] }, { history: [failed] }, { rollout: inProgress }]) {
      expect(measuredMembers(status)).to.equal(null);
    }
  });

  it('is the median of this rollout and of the last complete one', () => {
    const history = [
      { ...past, memberDurations: each(5) },
      { ...past, memberDurations: each(20, 30, 40) },
      { ...past, outcome: 'Failing', memberDurations: each(1) },
    ];
    const status = { history, rollout: { ...inProgress, memberDurations: each(900, 10) } };
    expect(measuredMembers(status)).to.deep.equal({ seconds: 30, members: 5 });
    expect(measuredMembers({ history: history.slice(0, 1) })).to.deep.equal({ seconds: 5, members: 1 });
  });

  it('is not lost by rollouts that update every member in place', () => {
    const inPlace = { ...past, disruptions: 0, updatedInPlace: [0, 1, 2] };
    const history = [{ ...past, memberDurations: each(20, 30, 40) }, inPlace, inPlace];
    expect(measuredMembers({ history })?.seconds).to.equal(30);
  });
});
