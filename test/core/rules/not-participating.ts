import type { notParticipating } from '../../../src/core/rules/not-participating.ts';
import { stale } from '../cluster-builder.ts';
import { member, revisionBefore } from '../member-builder.ts';
import { caughtUp } from '../mysql-readings.ts';
import { deletes, holds, lowers, when } from '../table.ts';
import { type Examples, held } from './example.ts';

export const examples: Examples<keyof typeof notParticipating> = {
  MemberDownOutOfOrder: {
    applies: held(
      stale().atPartition(3).members(member(0).stale().down('ErrImagePull')),
      { member: 0, pod: 'moco-test-0', next: 2, revision: revisionBefore, current: revisionBefore },
      { mode: 'Partition' },
    ),
    says: 'moco-test-0 is not working, but the partition reaches moco-test-2 first; `kubectl delete pod moco-test-0` restarts it at revision 5897fd84f8',
    justDoesNot: when(
      stale().atPartition(3).members(member(2).stale().down('ErrImagePull')),
      lowers('MemberDown', 2, 2),
      { mode: 'Partition' },
    ),
    alsoSays: [
      { member: 0, pod: 'moco-test-0', next: 2, revision: 'a', current: 'b' },
      'moco-test-0 is not working, but the partition reaches moco-test-2 first; `kubectl delete pod moco-test-0` restarts it at revision b instead of a',
    ],
  },
  AwaitingFailover: {
    applies: held(
      stale().members(member(0).lagging()).primaryUnavailableFor(100),
      { primary: 0, replica: null, graceSeconds: 180 },
      {},
      80,
    ),
    says: 'the primary moco-test-0 does not participate; MOCO has 180 s for a failover',
    justDoesNot: when(
      stale().members(member(0).lagging()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
    alsoSays: [
      { primary: 0, replica: 2, graceSeconds: 60 },
      'moco-test-2 runs and is not ready, which may mean that the primary moco-test-0 is gone; Kubernetes has 60 s to notice',
    ],
  },
  AwaitingRecovery: {
    applies: held(
      stale(1).members(member(0).agentDead()).primaryUnavailableFor(179),
      { member: 0, graceSeconds: 180 },
      {},
      1,
    ),
    says: 'moco-test-0 is running but does not participate; it has 180 s to recover',
    justDoesNot: when(
      stale(1).members(member(0).agentDead()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
  },
  FailoverUnfinished: {
    applies: held(
      stale()
        .members(member(0).updated().down('CrashLoopBackOff'), member(1).lagging(200), member(2).lagging(200))
        .primaryUnavailableFor(200)
        .memory({ verified: true }),
      { primary: 0, member: 2, graceSeconds: 180, state: null, said: null },
    ),
    says: 'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 is running and may have received transactions that no member has applied yet, so it is not restarted',
    justDoesNot: when(stale().members(member(2).lagging(200)), deletes('MemberNotParticipating', 2)),
    alsoSays: [
      { primary: 0, member: 2, graceSeconds: 180, state: null, said: caughtUp },
      'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 is running and has applied everything that it has received, which a failover may still need, so it is not restarted',
      {
        primary: 0,
        member: 2,
        graceSeconds: 180,
        state: null,
        said: { ...caughtUp, missing: null, unapplied: 7, applier: { runs: false, error: 1062 } },
      },
      'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 is running and has not applied 7 of the transactions that it has received (its applier has stopped with MySQL error 1062), so it is not restarted',
      { primary: 0, member: 2, graceSeconds: 180, state: null, said: { ...caughtUp, unapplied: 7 } },
      'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 is running and has not applied 7 of the transactions that it has received (its applier is running), so it is not restarted',
      { primary: 0, member: 2, graceSeconds: 180, state: 'Failed', said: null },
      'MOCO reports the cluster as Failed: it cannot reach the primary moco-test-0, although the pod is ready; moco-test-2 is running and may have received transactions that no member has applied yet, so it is not restarted',
    ],
  },
  MemberUnreachable: {
    applies: held(stale().members(member(1).unreachable(), member(2).updated().starting()), { member: 1 }),
    says: 'the node of moco-test-1 does not answer',
    justDoesNot: when(stale().members(member(1).unreachable()), deletes('MemberUnreachable', 1)),
  },
  MemberTerminating: {
    applies: held(stale().members(member(2).terminating(329)), { member: 2 }, {}, 1),
    says: 'moco-test-2 is terminating',
    justDoesNot: when(
      stale().members(member(2).terminating(330)),
      holds({ rule: 'MemberStuckTerminating', member: 2, graceSeconds: 300 }),
    ),
  },
};
