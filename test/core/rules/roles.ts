import type { roles } from '../../../src/core/rules/roles.ts';
import { stale, three } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { demotes, holds, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

export const examples: Examples<keyof typeof roles> = {
  AwaitingSwitchover: {
    applies: held(three(member(0).stale().demotedByUs(30)), { member: 0, timeoutSeconds: 90 }, {}, 60),
    says: 'waiting up to 90 s for MOCO to move the primary away from moco-test-0',
    justDoesNot: when(three(member(0).stale()), demotes(0)),
  },
  SwitchoverInProgress: {
    applies: held(stale().members(member(0).terminating()), { member: 0, terminating: true }),
    says: 'the primary role is moving away from moco-test-0, which is terminating',
    justDoesNot: when(stale().members(member(1).terminating()), holds({ rule: 'MemberTerminating', member: 1 })),
    alsoSays: [
      { member: 0, terminating: false },
      'the primary role is moving away from moco-test-0, which another client demoted',
    ],
  },
  MemberStuckTerminating: {
    applies: held(stale().members(member(0).terminating(330)), { member: 0, graceSeconds: 300 }),
    says: 'moco-test-0 is still terminating after its grace period of 300 s',
    justDoesNot: when(
      stale().members(member(0).terminating(329)),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: true }),
      {},
      1,
    ),
    alsoSays: [
      { member: 2, graceSeconds: 0 },
      'moco-test-2 still exists after its grace period ended early; a finalizer may be blocking its removal',
    ],
  },
  RolesNotSettled: {
    applies: held(stale().members(member(0).role('replica'), member(1).role('primary')), { members: [0, 1] }),
    says: 'MOCO has not finished setting the roles of moco-test-0, moco-test-1',
    justDoesNot: when(stale().primaryAt(1).members(member(0).role('replica'), member(1).role('primary')), next),
    alsoSays: [
      { members: [1], unavailable: true },
      'MOCO does not report the cluster as Available, although its primary moco-test-1 participates',
      { members: [0], unavailable: true, state: 'Lost' },
      'MOCO reports the cluster as Lost, although its primary moco-test-0 participates',
      { members: [2], ignored: true },
      'MOCO has set no role for moco-test-2, although the pod is ready, and reports the cluster as Degraded: mysqld may be hanging on commits that no replica has acknowledged',
    ],
  },
};
