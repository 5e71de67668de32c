import { expect } from 'chai';
import type { Sight } from '../../../hack/demo/sight.ts';
import { happeningLine, happenings } from '../../../hack/demo/story.ts';
import { painted } from '../../../src/cli/painted.ts';
import { healthyRollout, leaving, measureOf, member, sight, status, timestampAt } from './sights.ts';

/** The plain lines of sights that follow each other. */
function linesOf(sights: readonly Sight[]): readonly string[] {
  return sights.slice(1).flatMap((next, index) => {
    const moment = (count: number, at: Sight) => ({ sight: at, measure: measureOf(sights.slice(0, count)) });
    const before = moment(index + 1, sights[index] ?? next);
    return happenings(before, moment(index + 2, next)).map((happening) => painted(happeningLine(happening), false));
  });
}

describe('hack/demo: the lines where there is no terminal', () => {
  it('tell a healthy rollout', () => {
    expect(linesOf(healthyRollout()).join('\n')).to.equal(
      [
        '  0.10 s  test          revision 7966559688 is to roll out, 3 of 3 members stale',
        '  0.20 s  moco-test-2   leaves',
        '  0.95 s  moco-test-2   starts at revision 7966559688',
        '  2.30 s  moco-test-2   is back after 2.10 s: 1 of 3 updated',
        '  2.40 s  moco-test-1   leaves',
        '  3.10 s  moco-test-1   starts at revision 7966559688',
        '  4.60 s  moco-test-1   is back after 2.20 s: 2 of 3 updated',
        '  4.70 s  moco-test-0   is asked to hand over as primary (demote)',
        '  4.90 s  moco-test-1   is primary now, and MOCO settles the roles',
        '  5.10 s  test          switchover to moco-test-1 done after 0.40 s',
        '  5.20 s  moco-test-0   leaves',
        '  5.90 s  moco-test-0   starts at revision 7966559688',
        '  7.30 s  moco-test-0   is back after 2.10 s: 3 of 3 updated',
        '  7.40 s  test          complete: 3 of 3 members updated and participating',
      ].join('\n'),
    );
  });

  it('say nothing where nothing has changed', () => {
    expect(linesOf([sight(1), sight(2)])).to.deep.equal([]);
  });

  it('name the verb of the step that was written down for the member', () => {
    const intent = {
      id: 'a',
      holder: 'b',
      rule: 'ReplicaHealthy',
      revision: 'c',
      at: timestampAt(0),
      pods: [{ name: 'moco-test-2', uid: 'old-2', resourceVersion: '1' }],
    };
    const gone = { members: [member(0), member(1), leaving(2)] };
    const line = (step: 'evict' | 'delete') =>
      linesOf([sight(1), sight(10, { ...gone, status: status({ intent: { ...intent, step } }) })]);
    expect(line('evict')).to.deep.equal(['  0.01 s  moco-test-2   is evicted']);
    expect(line('delete')).to.deep.equal(['  0.01 s  moco-test-2   is deleted']);
  });

  it('name a hold when it comes and when it changes, not while it lasts', () => {
    const hold = (message: string) => ({
      status: status({ hold: { rule: 'BlockedByPDB', message, since: timestampAt(0) } }),
    });
    const lines = linesOf([
      sight(1),
      sight(10, hold('one')),
      sight(20, hold('one')),
      sight(30, hold('two')),
      sight(40),
    ]);
    expect(lines).to.deep.equal([
      '  0.01 s  waiting       BlockedByPDB: one',
      '  0.03 s  waiting       BlockedByPDB: two',
    ]);
  });
});
