import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { holds, play, promotes } from './table.ts';

const behind = () => cluster(3).statefulSet({ currentRevision: 'the-one-before' });

describe('when nothing is due', () => {
  play({
    'there is nothing to do': { given: cluster(3), decides: 'idle' },
    'the update revision becomes the current one': { given: behind(), decides: promotes(3) },
    'it does not before every pod is Ready': {
      given: behind().members(member(1).sidecarNotReady('slow-log', 5)),
      decides: 'idle',
    },
    'it does not before the last member has served for minReadySeconds': {
      given: behind().members(member(1).participatingFor(1)),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 1,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
      requeueAfterSeconds: 4,
    },
    'it does not before MOCO has set the last role': {
      given: behind().members(member(1).unlabelled()),
      decides: holds({ rule: 'UpdatedMemberNotParticipating', member: 1, wait: { for: 'role' } }),
    },
    'an unknown age makes it wait': {
      given: behind().members(member(1).but({ participatingForSeconds: null })),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 1,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
    'it does not while a member is missing': {
      given: behind().missing(1),
      decides: holds({ rule: 'MemberMissing', members: [1], message: null }),
    },
    'it does not while MOCO has not applied the newest generation': {
      given: behind().mysqlCluster({ generation: 3 }),
      decides: holds({ rule: 'NotReconciled', generation: 3, succeeded: 2 }),
    },
    'a member that leaves is waited for': {
      given: behind().members(member(1).stale().terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 1 }),
    },
    'a member that hangs is named before one that just leaves': {
      given: behind().members(member(1).stale().terminating(), member(2).stale().terminating(400)),
      decides: holds({ rule: 'MemberStuckTerminating', member: 2, graceSeconds: 300 }),
    },
    'the partition has been reached': {
      given: behind().members(member(0).stale(), member(1).stale()),
      settings: { partition: 2 },
      decides: holds({ rule: 'PartitionReached', partition: 2, members: [0, 1], pinned: [] }),
    },
    'a partition above all ordinals stages the update': {
      given: cluster(3).templateChanged(),
      settings: { partition: 5 },
      decides: holds({ rule: 'PartitionReached', partition: 5, members: [0, 1, 2], pinned: [] }),
    },
    'the partition is not reported as reached before the last updated member has settled': {
      given: cluster(3).members(member(0).stale(), member(2).participatingFor(2)),
      settings: { partition: 1 },
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
    'members below the partition stay even when they are down': {
      given: cluster(3).members(member(0).stale(), member(1).stale().down('CrashLoopBackOff')),
      settings: { partition: 2 },
      decides: holds({ rule: 'PartitionReached', partition: 2, members: [0, 1], pinned: [] }),
    },
    'a partition that is no number keeps everybody': {
      given: cluster(3).templateChanged(),
      settings: { partition: Number.NaN },
      decides: holds({ rule: 'PartitionReached', partition: Number.NaN, members: [0, 1, 2], pinned: [] }),
    },
  });
});
