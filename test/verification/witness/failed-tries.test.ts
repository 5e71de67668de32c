import { expect } from 'chai';
import { FailedTries } from './failed-tries.ts';
import { type Moment, nothing } from './moment.ts';

/** A status with so many failed tries for a revision; `asks` when the demotion for it is written down. */
function at(seconds: number, revision: string, count: number, asks = false): Moment {
  const intent = { id: `${revision} ${seconds}`, step: 'demote', revision };
  return {
    ...nothing,
    atMilliseconds: seconds * 1000,
    settings: {
      metadata: { name: 'test', uid: 'test', resourceVersion: '1' },
      status: { rollout: { revision, tries: { count } }, ...(asks && { intent }) },
    },
  };
}

function judged(moments: readonly Moment[]): readonly string[] {
  const tries = new FailedTries();
  return moments.flatMap((moment) => tries.observe(moment));
}

describe('the witness of failed switchovers', () => {
  it('accepts a failed switchover that has had its time, and a later one', () => {
    expect(judged([at(0, 'a', 0, true), at(90, 'a', 1), at(400, 'a', 1, true), at(490, 'a', 2)])).to.deep.equal([]);
  });

  it('objects once to a switchover that was called failed before its time', () => {
    expect(judged([at(0, 'a', 0, true), at(30, 'a', 1), at(31, 'a', 1)])).to.deep.equal([
      'a switchover was told as failed 30.0 s after it was asked for, of 90 s',
    ]);
  });

  it('objects to a failed switchover of a revision for which none was requested', () => {
    expect(judged([at(0, 'a', 0, true), at(95, 'b', 1)])).to.deep.equal([
      'a failed switchover was told of b, for which none was asked for',
    ]);
  });
});
