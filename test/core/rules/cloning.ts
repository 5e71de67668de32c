import type { cloneUnread, cloning } from '../../../src/core/rules/cloning.ts';
import { stale, three } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, when } from '../table.ts';
import { type Examples, held } from './example.ts';

export const examples: Examples<keyof typeof cloning | keyof typeof cloneUnread> = {
  Cloning: {
    applies: held(
      three(member(2).stale().lagging(7200).clone({ kind: 'cloning' })),
      { member: 2, unfinished: false },
      {},
      30,
    ),
    says: 'moco-test-2 is copying the data of another member; a restart would make it start over',
    justDoesNot: when(
      three(member(2).stale().lagging(7200).clone({ kind: 'unfinished' })),
      deletes('MemberNotParticipating', 2),
    ),
    alsoSays: [
      { member: 2, unfinished: true },
      'moco-test-2 began to copy the data of another member and has not finished',
      {
        member: 2,
        unfinished: false,
        progress: { stage: 'FILE COPY', percent: 40, estimatedBytes: 2 ** 40, isStill: true },
      },
      'moco-test-2 is copying the data of another member; a restart would make it start over; at least 40% of 1024.0 GiB has been copied (stage FILE COPY); it has made no progress for 5 minutes',
      { member: 2, unfinished: false, progress: { stage: '', percent: 0, estimatedBytes: 0, isStill: false } },
      'moco-test-2 is copying the data of another member; a restart would make it start over; at least 0% of 0.0 GiB has been copied',
    ],
  },
  CloneImpossible: {
    applies: held(
      stale().members(member(2).stale().unschedulable().claimEnds('missing')).toMysqld('9.7.4'),
      { member: 2, donor: '8.4.8', mysqld: '9.7.4' },
      {},
      60,
    ),
    says: 'moco-test-2 would have to be cloned, but mysqld 9.7.4 cannot clone the primary, which runs 8.4.8',
    justDoesNot: when(
      stale().members(member(2).stale().unschedulable().claimEnds('missing')).toMysqld('8.4.9'),
      deletes('MemberDown', 2),
    ),
  },
  CloneUnknown: {
    applies: held(three(member(2).stale().lagging().clone(null)), { member: 2, message: null }),
    says: "the agent of moco-test-2 has not reported yet whether the member is copying another member's data",
    justDoesNot: when(
      three(member(2).stale().lagging().clone({ kind: 'notCloning' }, { ageSeconds: 4 })),
      deletes('MemberNotParticipating', 2),
    ),
    alsoSays: [
      { member: 2, message: 'connection refused.' },
      'it is unknown whether moco-test-2 is copying the data of another member: connection refused',
    ],
  },
};
