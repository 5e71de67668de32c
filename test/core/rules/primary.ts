import type { primary } from '../../../src/core/rules/primary.ts';
import { lastOne, three } from '../cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from '../member-builder.ts';
import { demotes, when } from '../table.ts';
import { type Examples, held } from './example.ts';

export const examples: Examples<keyof typeof primary> = {
  AwaitingApproval: {
    applies: held(
      lastOne(),
      { member: 0, revision: revisionAfter },
      { primaryUpdatePolicy: 'Manual', approvedRevision: revisionBefore },
    ),
    says: 'the primary moco-test-0 is waiting for approval of revision 7966559688',
    justDoesNot: when(lastOne(), demotes(0), { primaryUpdatePolicy: 'Manual', approvedRevision: revisionAfter }),
    alsoSays: [
      { member: 0, revision: 'b', unknown: 'c' },
      'the primary moco-test-0 is waiting for approval of revision b; the approved revision c is not a revision of this cluster',
    ],
  },
  SwitchoverFailing: {
    applies: held(
      three(member(0).stale()).memory({ switchoverTries: 1, sinceLastTrySeconds: 299 }),
      { member: 0, tries: 1, retries: true },
      {},
      1,
    ),
    says: 'the switchover away from moco-test-0 has failed once; it will be tried again',
    justDoesNot: when(three(member(0).stale()).memory({ switchoverTries: 1, sinceLastTrySeconds: 300 }), demotes(0)),
    alsoSays: [
      { member: 0, tries: 4, retries: false },
      'the switchover away from moco-test-0 has failed 4 times; it will not be tried again for this revision',
    ],
  },
};
