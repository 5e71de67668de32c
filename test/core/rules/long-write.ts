import type { longWrite } from '../../../src/core/rules/long-write.ts';
import { lastOne } from '../cluster-builder.ts';
import { openWrite, shownWrite } from '../mysql-readings.ts';
import { demotes, when } from '../table.ts';
import { type Examples, held } from './example.ts';

export const examples: Examples<keyof typeof longWrite> = {
  LongWrite: {
    applies: held(
      lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 1 }], waitedForWritesSeconds: 59 }),
      { member: 0, write: shownWrite, others: 0, graceSeconds: 60 },
      {},
      1,
    ),
    says: 'the switchover away from moco-test-0 is waiting, for at most 60 s, for an open write; session 42 of app@10.0.0.7:51234 began it at 2026-07-01T12:00:00Z and is waiting for its client',
    justDoesNot: when(
      lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 0 }], waitedForWritesSeconds: 59 }),
      demotes(0),
    ),
    alsoSays: [
      { member: 0, write: null, others: 0, graceSeconds: 60 },
      'waiting for the primary moco-test-0 to report whether it has open writes',
      { member: 0, write: shownWrite, others: 2, graceSeconds: 60 },
      'the switchover away from moco-test-0 is waiting, for at most 60 s, for 3 open writes; session 42 of app@10.0.0.7:51234 began the oldest at 2026-07-01T12:00:00Z and is waiting for its client',
      { member: 0, write: shownWrite, others: 19, graceSeconds: null },
      'the switchover away from moco-test-0 is waiting for at least 20 open writes; session 42 of app@10.0.0.7:51234 began the oldest at 2026-07-01T12:00:00Z and is waiting for its client',
      { member: 0, write: { ...shownWrite, waitsFor: null }, others: 0, graceSeconds: null },
      'the switchover away from moco-test-0 is waiting for an open write; session 42 of app@10.0.0.7:51234 began it at 2026-07-01T12:00:00Z',
    ],
  },
};
