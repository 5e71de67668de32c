import type { notParticipating as notParticipatingRules } from '../../../src/core/rules/not-participating.ts';
import type { recreatable as recreatableRules } from '../../../src/core/rules/recreatable.ts';
import type { roles as rolesRules } from '../../../src/core/rules/roles.ts';
import { lastOne, stale, three } from '../cluster-builder.ts';
import { member, revisionBefore } from '../member-builder.ts';
import { caughtUp } from '../mysql-readings.ts';
import { deletes, demotes, holds, lowers, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

export const roles: Examples<keyof typeof rolesRules> = {
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
      'the primary role is moving away from moco-test-0, which somebody else demoted',
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
      'moco-test-2 still exists after its grace period ended early; a finalizer may keep it',
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
      'MOCO gives moco-test-2 no role although the pod is ready, and reports the cluster as Degraded: mysqld may hang with commits that no replica has acknowledged',
    ],
  },
};

export const recreatable: Examples<keyof typeof recreatableRules> = {
  ClaimTerminating: {
    applies: held(
      stale().members(member(2).stale().claimEnds()),
      { member: 2, claims: [{ name: 'mysql-data-moco-test-2', state: 'terminating' }], uncloneable: null },
      {},
      60,
    ),
    says: 'deleting moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 is being deleted and goes with the pod',
    justDoesNot: when(stale().members(member(1).stale().claimEnds()), next),
    alsoSays: [
      {
        member: 2,
        claims: [
          { name: 'mysql-data-moco-test-2', state: 'missing' },
          { name: 'logs-moco-test-2', state: 'terminating' },
        ],
        uncloneable: null,
      },
      'deleting moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 no longer exists and its claim logs-moco-test-2 is being deleted and goes with the pod',
      {
        member: 2,
        claims: [{ name: 'mysql-data-moco-test-2', state: 'missing' }],
        uncloneable: { donor: '8.4.8', mysqld: '9.7.4' },
      },
      'deleting moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 no longer exists; and mysqld 9.7.4 cannot clone the primary, which has 8.4.8',
    ],
  },
  NodeTakesNoPods: {
    applies: held(
      lastOne().members(member(0).stale().tiedToCordonedNode()),
      { member: 0, nodeName: 'n-0', refusals: ['is cordoned'], ties: ['the volume pvc-0'] },
      {},
      60,
    ),
    says: 'another pod of moco-test-0 would stay Pending: its node n-0 is cordoned, and the volume pvc-0 allows no other node that takes pods',
    justDoesNot: when(lastOne().members(member(0).stale().onCordonedNode()), demotes(0)),
    alsoSays: [
      {
        member: 2,
        nodeName: 'n-1',
        refusals: ['is not ready', 'is short of memory'],
        ties: ['the volume pvc-1', 'the nodeSelector'],
      },
      'another pod of moco-test-2 would stay Pending: its node n-1 is not ready and is short of memory, and the volume pvc-1 and the nodeSelector allow no other node that takes pods',
      { member: 2, nodeName: 'n-1', refusals: ['is gone'], ties: [] },
      'another pod of moco-test-2 would stay Pending: its node n-1 is gone, and no other node takes pods',
    ],
  },
  SuccessorRefused: {
    applies: held(
      stale().members(member(2).stale().recreatable({ refusal: 'exceeded quota.' })),
      { member: 2, message: 'exceeded quota.' },
      {},
      60,
    ),
    says: 'the API server would not admit another pod of moco-test-2: exceeded quota',
    justDoesNot: when(
      stale().members(member(2).stale().down('CrashLoopBackOff').recreatable({ refusal: 'exceeded quota.' })),
      deletes('MemberDown', 2),
    ),
  },
};

export const notParticipating: Examples<keyof typeof notParticipatingRules> = {
  MemberDownOutOfOrder: {
    applies: held(
      stale().atPartition(3).members(member(0).stale().down('ErrImagePull')),
      { member: 0, pod: 'moco-test-0', next: 2, revision: revisionBefore, current: revisionBefore },
      { mode: 'Partition' },
    ),
    says: 'moco-test-0 does not work, and partitions reach it only after moco-test-2; `kubectl delete pod moco-test-0` makes it try again at revision 5897fd84f8',
    justDoesNot: when(
      stale().atPartition(3).members(member(2).stale().down('ErrImagePull')),
      lowers('MemberDown', 2, 2),
      { mode: 'Partition' },
    ),
    alsoSays: [
      { member: 0, pod: 'moco-test-0', next: 2, revision: 'a', current: 'b' },
      'moco-test-0 does not work, and partitions reach it only after moco-test-2; `kubectl delete pod moco-test-0` makes it try again at revision b instead of a',
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
      'moco-test-2 was ready until just now, so the primary moco-test-0 may be gone; Kubernetes has 60 s to notice',
    ],
  },
  AwaitingRecovery: {
    applies: held(
      stale(1).members(member(0).agentDead()).primaryUnavailableFor(179),
      { member: 0, graceSeconds: 180 },
      {},
      1,
    ),
    says: 'moco-test-0 runs without participating; it has 180 s to recover',
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
    says: 'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and may have received transactions that nobody has applied yet, so it is not restarted',
    justDoesNot: when(stale().members(member(2).lagging(200)), deletes('MemberNotParticipating', 2)),
    alsoSays: [
      { primary: 0, member: 2, graceSeconds: 180, state: null, said: caughtUp },
      'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and has applied all that it has received, which a failover may still need, so it is not restarted',
      {
        primary: 0,
        member: 2,
        graceSeconds: 180,
        state: null,
        said: { ...caughtUp, missing: null, unapplied: 7, applier: { runs: false, error: 1062 } },
      },
      "the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and has received 7 transactions that it has not applied; its applier has stopped, with MySQL's error 1062, so it is not restarted",
      { primary: 0, member: 2, graceSeconds: 180, state: null, said: { ...caughtUp, unapplied: 7 } },
      'the primary moco-test-0 has not participated for more than 180 s, and MOCO has not moved it; moco-test-2 runs and has received 7 transactions that it has not applied; its applier works, so it is not restarted',
      { primary: 0, member: 2, graceSeconds: 180, state: 'Failed', said: null },
      'MOCO reports the cluster as Failed: it does not reach the primary moco-test-0, although the pod is ready; moco-test-2 runs and may have received transactions that nobody has applied yet, so it is not restarted',
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
