import type { silent } from '../../../src/core/rules/members.ts';
import { stale } from '../cluster-builder.ts';
import { when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

export const examples: Examples<keyof typeof silent> = {
  MembersNotAsked: {
    applies: held(stale().answers(1, { kind: 'ready' }, { ageSeconds: 5 }), { members: [1] }),
    says: 'waiting for moco-test-1 to report whether it is ready',
    justDoesNot: when(stale().answers(1, { kind: 'ready' }, { ageSeconds: 4 }), next),
    alsoSays: [{ members: [0, 1] }, 'waiting for moco-test-0, moco-test-1 to report whether they are ready'],
  },
  MemberSilent: {
    applies: held(
      stale().silent(1, 119),
      { member: 1, answer: 'unknown', message: 'no answer within 1000 ms', graceSeconds: 120 },
      {},
      1,
    ),
    says: 'moco-test-1 does not answer (no answer within 1000 ms), although its pod is ready; Kubernetes and MOCO have 120 s to notice that it is gone',
    justDoesNot: when(stale().silent(1, 120), next),
    alsoSays: [
      { member: 0, answer: 'notReady', message: 'it is cloning.', graceSeconds: 120 },
      'the pod of moco-test-0 is ready, but the member reports that it is not (it is cloning)',
    ],
  },
};
