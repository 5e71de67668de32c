import type { Hold } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster, three } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { holds, lowers, notYet, play, type Table, takesBack, tooYoung, when } from './table.ts';

const settings: Partial<RolloutPolicy> = { mode: 'Partition' };

/** The template has changed, and MOCO's webhook has set the partition to the number of members. */
const stale = (replicas = 3): ClusterBuilder => cluster(replicas).templateChanged().atPartition(replicas);
/** Those from the partition up are updated, the rest is stale. */
const midway = (partition: number, replicas = 3): ClusterBuilder => {
  const one = stale(replicas).atPartition(partition);
  for (let ordinal = partition; ordinal < replicas; ordinal++) one.members(member(ordinal).updated());
  return one;
};
const healthy = (partition: number) => lowers('ReplicaHealthy', partition, partition);

const inPartitionMode = (table: Table): void =>
  play(
    Object.fromEntries(
      Object.entries(table).map(([sentence, one]) => [
        sentence,
        { ...one, settings: { ...settings, ...one.settings } },
      ]),
    ),
  );

describe('a rollout by partitions', () => {
  inPartitionMode({
    'the last one goes first': when(stale(), healthy(2)),
    'ten goes before nine: ordinals are numbers': when(stale(11), healthy(10)),
    'no member is replaced while the StatefulSet is written again and again: the partition would not stay': when(
      stale().contended(),
      holds({
        rule: 'StatefulSetNotObserved',
        contention: { writesPerSecond: 1, managers: ['moco-controller'], fields: [] },
      }),
    ),
    'then the one before it': when(midway(2), healthy(1)),
    'the primary goes when it is its turn, without a demotion: the StatefulSet does not ask': when(
      midway(1),
      healthy(0),
    ),
    'nothing is left at 0': when(midway(0), 'idle'),
    'nothing is left, whatever the current revision is: the StatefulSet moves it itself': when(
      midway(0).statefulSet({ currentRevision: 'old' }),
      'idle',
    ),
    'one of one goes too': when(stale(1), healthy(0)),
    'a partition past the last one is as good as one just there': when(stale().atPartition(7), healthy(2)),
    'one that was updated without a step is skipped, whatever it does': when(
      stale().members(member(2).updated().lagging()).memory({ verified: true }),
      lowers('AlreadyUpdated', 2),
    ),
    'nothing is left at any partition when no member is stale or would start stale': when(
      cluster(3).atPartition(3),
      'idle',
    ),
    'no member is stale and a crash would bring the previous revision: the partition goes down': when(
      cluster(3).atPartition(3).statefulSet({ currentRevision: 'old' }),
      lowers('AlreadyUpdated', 2),
    ),
    'nothing has begun while the StatefulSet has no partition and nothing is stale': when(
      cluster(3).statefulSet({ strategy: 'RollingUpdate', labelled: false, partition: null }),
      'idle',
    ),
  });
});

describe('the partition of the user', () => {
  const reached = (partition: number, ...members: readonly number[]) =>
    holds({ rule: 'PartitionReached', partition, members, pinned: [] });
  inPartitionMode({
    'is not gone below': when(midway(2), reached(2, 0, 1), { partition: 2 }),
    'is gone down to': when(stale(), healthy(2), { partition: 2 }),
    'stages the update when it is as high as there are members': when(stale(), reached(3, 0, 1, 2), { partition: 3 }),
    'lets it continue when it is lowered': when(midway(2), healthy(1), { partition: 1 }),
    'does not raise that of the StatefulSet again': when(midway(1), reached(2, 0), { partition: 2 }),
    'keeps every member when it is no number': when(stale(), reached(Number.NaN, 0, 1, 2), { partition: Number.NaN }),
    'waits until the last updated member has settled': when(
      midway(2).members(member(2).updated().participatingFor(1)),
      tooYoung(2, 5),
      { partition: 2 },
    ),
  });
});

describe('while the StatefulSet controller has not replaced a member yet', () => {
  const working = (ordinal: number): Hold => ({
    rule: 'UpdatedMemberNotParticipating',
    member: ordinal,
    wait: { for: 'revision' },
  });
  inPartitionMode({
    'the next one waits': when(stale().atPartition(2), holds(working(2))),
    'the last one is waited for by name': when(midway(0).members(member(0).stale()), holds(working(0))),
    'so it is without any partition': when(stale().statefulSet({ partition: null }), holds(working(2))),
    'one that is terminating is named as such': when(
      stale().atPartition(2).members(member(2).stale().terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
    'what an updated member still needs is reported first': when(
      midway(0).members(member(0).stale(), member(2).updated().participatingFor(4)),
      tooYoung(2, 5),
    ),
  });
});

describe('a pinned member', () => {
  inPartitionMode({
    'ends it there': when(stale(), holds({ rule: 'PartitionReached', partition: 0, members: [], pinned: [2] }), {
      pinnedOrdinals: [2],
    }),
    'is passed when it is updated already': when(stale().members(member(2).updated()), lowers('AlreadyUpdated', 2), {
      pinnedOrdinals: [2],
    }),
    'does not matter before its turn': when(stale(), healthy(2), { pinnedOrdinals: [1] }),
  });
});

describe('the gates of a healthy member in partition mode', () => {
  const settling = (ordinal: number): Hold => ({
    rule: 'UpdatedMemberNotParticipating',
    member: ordinal,
    wait: { for: 'minReadySeconds', minReadySeconds: 5 },
  });
  inPartitionMode({
    'the one before has to settle': when(
      midway(2).members(member(2).updated().participatingFor(4)),
      holds(settling(2)),
      {},
      1,
    ),
    'MOCO may not protect it': when(
      midway(1).members(member(0).stale().preventDelete()),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'it may not recover': when(
      stale().members(member(2).stale().recovering(300)),
      holds({ rule: 'AwaitingRecovery', member: 2, graceSeconds: 3600 }),
    ),
    'MOCO may not protect the replica, and partitions can take no member before it': when(
      stale().members(member(2).preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
    ),
    'a person has to have approved that the primary goes': when(
      midway(1),
      holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter }),
      { primaryUpdatePolicy: 'Manual' },
    ),
    'a person has approved it': when(midway(1), healthy(0), {
      primaryUpdatePolicy: 'Manual',
      approvedRevision: revisionAfter,
    }),
    'a second one goes while the first is starting, when two may be unavailable': when(
      midway(4, 5).members(member(4).updated().starting()),
      healthy(3),
      { maxUnavailable: 2 },
    ),
    'a third one does not': when(
      midway(3, 5).members(member(4).updated().starting(), member(3).updated().starting()),
      holds({ rule: 'MaxUnavailableReached', unavailable: [3, 4], maxUnavailable: 2 }),
      { maxUnavailable: 2 },
    ),
  });
});

describe('the gates of a member that does not work, in partition mode', () => {
  const lowered = (ordinal: number) => lowers('MemberNotParticipating', ordinal, ordinal);
  inPartitionMode({
    'neither Healthy nor the budget is checked when it is unreachable': when(
      stale().members(member(2).stale().unreachable()),
      lowered(2),
    ),
    'nor when a sidecar does not work': when(
      stale().members(member(2).stale().impaired('slow-log')),
      lowers('MemberImpaired', 2, 2),
    ),
    'one that is down does no work, and waits for no other': when(
      stale().members(member(2).stale().down('ErrImagePull'), member(1).stale().lagging()).queued(1, 1),
      lowers('MemberDown', 2, 2),
    ),
    'nor does it wait for the end of a pause that allows repairs': when(
      stale().members(member(2).stale().down('ErrImagePull')),
      lowers('MemberDown', 2, 2),
      { paused: true, repairWhilePaused: true },
    ),
    'the partition passes one that is updated without a slot': when(
      stale().members(member(2).updated()).queued(1, 1),
      lowers('AlreadyUpdated', 2),
    ),
    'a primary does not pass a pinned replica': when(
      stale().primaryAt(2),
      holds({ rule: 'PrimaryWaitsForPinned', member: 2, pinned: [1] }),
      { pinnedOrdinals: [1] },
    ),
    'every other has to participate when a sidecar does not work': when(
      stale().members(member(2).stale().impaired('slow-log'), member(1).stale().lagging()),
      holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
    ),
    'one that is down before its turn waits for it': when(
      stale().members(member(1).stale().down('ErrImagePull')),
      holds({
        rule: 'MemberDownOutOfOrder',
        member: 1,
        pod: 'moco-test-1',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    ),
    'an updated one that is down is waited for as such': when(
      midway(2).members(member(2).updated().down('ErrImagePull')).memory({ verified: true }),
      notYet(2, 'down', { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 }),
    ),
    'one that has not served for longer than a failover takes is named as well': when(
      stale().members(member(1).stale().lagging(180)),
      holds({
        rule: 'MemberDownOutOfOrder',
        member: 1,
        pod: 'moco-test-1',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    ),
    'and not before': when(
      stale().members(member(1).stale().lagging(179)),
      holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
      {},
      1,
    ),
    'MOCO may not protect it': when(
      midway(1).members(member(0).stale().down('ErrImagePull').preventDelete()),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'a primary that does not work goes when it is its turn': when(
      midway(1).members(member(0).stale().down('ErrImagePull')),
      lowers('MemberDown', 0, 0),
    ),
  });
});

describe('holds in partition mode', () => {
  inPartitionMode({
    'the strategy is none: OnDelete belongs to the other mode': when(
      stale().statefulSet({ strategy: 'OnDelete', labelled: false, partition: 3 }),
      healthy(2),
    ),
    'a failing revision is, and no time ends it: no member is deleted in this mode': when(
      midway(2)
        .members(
          member(2).updated().down('ErrImagePull'),
          member(1).stale().down('ErrImagePull'),
          member(0).stale().lagging(),
        )
        .memory({ sinceProgressSeconds: 600 }),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 },
      }),
    ),
    'a missing member is, with what the StatefulSet says of it': when(
      midway(2).missing(2).but({ createFailure: 'exceeded quota' }),
      holds({ rule: 'MemberMissing', members: [2], message: 'exceeded quota' }),
    ),
    'a demotion left from the other mode is taken back': when(
      stale().members(member(0).stale().demotedByUs(1)),
      takesBack(0, 'StrategyChanged'),
    ),
  });
});

describe('a partition in special cases', () => {
  inPartitionMode({
    'that the StatefulSet does not have is 0': when(
      three(member(0).stale()).atPartition(1).statefulSet({ partition: null }),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 0, wait: { for: 'revision' } }),
    ),
    'waits for a member that recovers': when(
      stale().atPartition(3).members(member(0).recovering(300)),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
    ),
  });
});
