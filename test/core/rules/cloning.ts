import type { cloneUnread, cloning } from '../../../src/core/rules/cloning.ts';
import { three } from '../cluster-builder.ts';
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
    says: 'moco-test-2 copies the data of another member, and would start again if it were restarted',
    justDoesNot: when(
      three(member(2).stale().lagging(7200).clone({ kind: 'unfinished' })),
      deletes('MemberNotParticipating', 2),
    ),
    alsoSays: [
      { member: 2, unfinished: true },
      'moco-test-2 has begun to copy the data of another member and has not finished',
      {
        member: 2,
        unfinished: false,
        progress: { stage: 'FILE COPY', percent: 40, estimatedBytes: 2 ** 40, isStill: true },
      },
      'moco-test-2 copies the data of another member, and would start again if it were restarted; at least 40 % of 1024.0 GiB is copied (stage FILE COPY); nothing has advanced for 5 minutes',
      { member: 2, unfinished: false, progress: { stage: '', percent: 0, estimatedBytes: 0, isStill: false } },
      'moco-test-2 copies the data of another member, and would start again if it were restarted; at least 0 % of 0.0 GiB is copied',
    ],
  },
  CloneUnknown: {
    applies: held(three(member(2).stale().lagging().clone(null)), { member: 2, message: null }),
    says: 'the agent of moco-test-2 has not said yet whether it copies the data of another member',
    justDoesNot: when(
      three(member(2).stale().lagging().clone({ kind: 'notCloning' }, { ageSeconds: 4 })),
      deletes('MemberNotParticipating', 2),
    ),
    alsoSays: [
      { member: 2, message: 'connection refused.' },
      'it is unknown whether moco-test-2 copies the data of another member: connection refused',
    ],
  },
};
