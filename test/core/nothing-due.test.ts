import { cluster, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { holds, play, promotes, tooYoung, when } from './table.ts';

const behind = () => cluster(3).statefulSet({ currentRevision: 'the-one-before' });

describe('when nothing is due', () => {
  play({
    'the update revision becomes the current one': when(behind(), promotes(3)),
    'it does not before every pod is Ready': when(behind().members(member(1).sidecarNotReady('slow-log', 5)), 'idle'),
    'it does not before the last member has served for minReadySeconds': when(
      behind().members(member(1).participatingFor(1)),
      tooYoung(1, 5),
      {},
      4,
    ),
    'it does not before MOCO has set the last role': when(
      behind().members(member(1).unlabelled()),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 1, wait: { for: 'role' } }),
    ),
    'an unknown age makes it wait': when(
      behind().members(member(1).but({ participatingForSeconds: null })),
      tooYoung(1, 5),
    ),
    'it does not while a member is missing': when(
      behind().missing(1),
      holds({ rule: 'MemberMissing', members: [1], message: null }),
    ),
    'it does not while MOCO has not applied the newest generation': when(
      behind().mysqlCluster({ generation: 3 }),
      holds({ rule: 'NotReconciled', generation: 3, succeeded: 2 }),
    ),
    'a member that leaves is waited for': when(
      behind().members(member(1).stale().terminating()),
      holds({ rule: 'MemberTerminating', member: 1 }),
    ),
    'a member that hangs is named before one that just leaves': when(
      behind().members(member(1).stale().terminating(), member(2).stale().terminating(400)),
      holds({ rule: 'MemberStuckTerminating', member: 2, graceSeconds: 300 }),
    ),
    'the partition has been reached': when(
      behind().members(member(0).stale(), member(1).stale()),
      holds({ rule: 'PartitionReached', partition: 2, members: [0, 1], pinned: [] }),
      { partition: 2 },
    ),
    'a partition above all ordinals stages the update': when(
      stale(),
      holds({ rule: 'PartitionReached', partition: 5, members: [0, 1, 2], pinned: [] }),
      { partition: 5 },
    ),
    'the partition is not reported as reached before the last updated member has settled': when(
      three(member(0).stale(), member(2).participatingFor(2)),
      tooYoung(2, 5),
      { partition: 1 },
    ),
    'members below the partition stay even when they are down': when(
      three(member(0).stale(), member(1).stale().down('CrashLoopBackOff')),
      holds({ rule: 'PartitionReached', partition: 2, members: [0, 1], pinned: [] }),
      { partition: 2 },
    ),
    'a partition that is no number keeps every member': when(
      stale(),
      holds({ rule: 'PartitionReached', partition: Number.NaN, members: [0, 1, 2], pinned: [] }),
      { partition: Number.NaN },
    ),
  });
});
