import { expect } from 'chai';
import type { RolloutStatus } from '../../src/api/rollout-status.ts';
import type { Hold, Step, Target } from '../../src/core/decision.ts';
import { type Estimate, estimate, measuredMemberSeconds } from '../../src/plan/estimate.ts';
import type { PlanEntry } from '../../src/plan/rollout-plan.ts';

const target = (ordinal: number): Target => ({
  ordinal,
  name: `moco-test-${ordinal}`,
  uid: 'uid',
  resourceVersion: '1',
});
const step = (one: Step): PlanEntry => ({ kind: 'step', step: one });
const evict = (ordinal: number): PlanEntry =>
  step({ kind: 'evict', rule: 'ReplicaHealthy', targets: [target(ordinal)] });
const waitFor = (hold: Hold): PlanEntry => ({ kind: 'wait', hold });

const each = (...seconds: readonly number[]) => seconds.map((one, ordinal) => ({ ordinal, seconds: one }));
const startedAt = '2026-07-01T12:00:00.000000Z';
const progress = { revision: 'b', from: 'a', startedAt, disruptions: 0, switchovers: 0 };
const inProgress = { ...progress, lastProgressAt: startedAt, verified: false, takenDown: [] };
const past = { ...progress, finishedAt: '2026-07-01T12:01:30Z', outcome: 'Complete', disruptions: 3 } as const;
const tenSeconds: RolloutStatus = { history: [{ ...past, memberDurations: each(10) }] };

function estimated(entries: readonly PlanEntry[], status: RolloutStatus): Estimate | null {
  return estimate({ entries, switchovers: 0, stopsAt: null }, status);
}

describe('the estimate counts', () => {
  const counted: Readonly<Record<string, readonly [entries: readonly PlanEntry[], members: number]>> = {
    'no member if nothing is left to do': [[], 0],
    'each eviction': [[evict(4), evict(3), evict(2)], 3],
    'each target of deletions': [[step({ kind: 'delete', rule: 'MemberDown', targets: [target(2), target(1)] })], 2],
    'members below a new partition': [
      [step({ kind: 'setPartition', rule: 'ReplicaHealthy', partition: 2, targets: [target(2)] })],
      1,
    ],
    'members that MOCO replaces': [[waitFor({ rule: 'AwaitingMoco', partition: 2, member: 2 })], 1],
    'no other wait': [[waitFor({ rule: 'MemberTerminating', member: 2 })], 0],
    'no demotion and no switchover': [
      [
        step({ kind: 'demote', rule: 'PrimaryLast', targets: [target(0)], revision: 'b' }),
        { kind: 'switchover', from: 0, to: 1 },
      ],
      0,
    ],
  };
  for (const [what, [entries, members]] of Object.entries(counted)) {
    it(what, () => expect(estimated(entries, tenSeconds)?.seconds).to.equal(10 * members));
  }
});

describe('the estimate of two members', () => {
  const known: Readonly<Record<string, readonly [status: RolloutStatus, expected: Estimate | null]>> = {
    'is unknown before the first rollout': [{}, null],
    'is unknown after a rollout that disrupted nobody': [{ history: [{ ...past, disruptions: 0 }] }, null],
    'is unknown if the last rollout has no valid times': [{ history: [{ ...past, finishedAt: '' }] }, null],
    'is unknown after a rollout that did not complete': [{ history: [{ ...past, outcome: 'Failing' }] }, null],
    'is the mean of the members of this rollout': [
      { ...tenSeconds, rollout: { ...inProgress, memberDurations: each(20, 41) } },
      { seconds: 61, from: '2 of this rollout' },
    ],
    'is that of the last rollout while this one has no member': [
      { ...tenSeconds, rollout: { ...inProgress, memberDurations: [] } },
      { seconds: 20, from: 'the last rollout' },
    ],
    'is that of the last complete rollout': [
      {
        history: [
          { ...past, memberDurations: each(5) },
          { ...past, memberDurations: each(30, 40) },
          { ...past, outcome: 'Superseded', memberDurations: each(90) },
        ],
      },
      { seconds: 70, from: 'the last rollout' },
    ],
    'is a share of the last rollout if that has no times of members': [
      { history: [{ ...past, finishedAt: '2026-07-01T12:50:00Z' }] },
      { seconds: 2000, from: 'the last rollout' },
    ],
    'is rounded to seconds': [
      { history: [{ ...past, memberDurations: each(10.3) }] },
      { seconds: 21, from: 'the last rollout' },
    ],
  };
  for (const [what, [status, expected]] of Object.entries(known)) {
    it(what, () => expect(estimated([evict(2), evict(1)], status)).to.deep.equal(expected));
  }
});

describe('the measured time of a member', () => {
  it('is the median of this rollout and of the last complete one', () => {
    const history = [
      { ...past, memberDurations: each(20, 30, 40) },
      { ...past, outcome: 'Failing' as const, memberDurations: each(1) },
    ];
    expect(measuredMemberSeconds({ history, rollout: { ...inProgress, memberDurations: each(900, 10) } })).to.equal(30);
    expect(measuredMemberSeconds({ history: history.slice(1) })).to.equal(null);
  });

  it('is not lost by rollouts that update every member in place', () => {
    const inPlace = { ...past, disruptions: 0, updatedInPlace: [0, 1, 2] };
    const history = [{ ...past, memberDurations: each(20, 30, 40) }, inPlace, inPlace];
    expect(measuredMemberSeconds({ history })).to.equal(30);
    expect(estimated([evict(2)], { history })).to.deep.equal({ seconds: 30, from: 'the last rollout' });
    expect(estimated([evict(2)], { history: [past, inPlace] })?.from).to.equal('the last rollout');
  });
});
