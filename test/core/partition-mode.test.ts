import type { Hold } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import { backupRunning, type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { holds, lowers, play, type Table, takesBack } from './table.ts';

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
    'the last one goes first': { given: stale(), decides: healthy(2) },
    'ten goes before nine: ordinals are numbers': { given: stale(11), decides: healthy(10) },
    'nobody goes while somebody writes the StatefulSet again and again: the partition would not stay': {
      given: stale().contended(),
      decides: holds({
        rule: 'StatefulSetNotObserved',
        contention: { writesPerSecond: 1, managers: ['moco-controller'], fields: [] },
      }),
    },
    'then the one before it': { given: midway(2), decides: healthy(1) },
    'the primary goes when it is its turn, without a demotion: the StatefulSet does not ask': {
      given: midway(1),
      decides: healthy(0),
    },
    'nothing is left at 0': { given: midway(0), decides: 'idle' },
    'nothing is left, whatever the current revision is: the StatefulSet moves it itself': {
      given: midway(0).statefulSet({ currentRevision: 'old' }),
      decides: 'idle',
    },
    'one of one goes too': { given: stale(1), decides: healthy(0) },
    'a partition past the last one is as good as one just there': {
      given: stale().atPartition(7),
      decides: healthy(2),
    },
    'one that has come up updated by itself is skipped, whatever it does': {
      given: stale().members(member(2).updated().lagging()).memory({ verified: true }),
      decides: lowers('AlreadyUpdated', 2),
    },
    'nothing is left at any partition when no member is stale or would come up stale': {
      given: cluster(3).atPartition(3),
      decides: 'idle',
    },
    'no member is stale and a crash would bring the previous revision: the partition goes down': {
      given: cluster(3).atPartition(3).statefulSet({ currentRevision: 'old' }),
      decides: lowers('AlreadyUpdated', 2),
    },
    'nothing has begun while the StatefulSet has no partition and nothing is stale': {
      given: cluster(3).statefulSet({ strategy: 'RollingUpdate', labelled: false, partition: null }),
      decides: 'idle',
    },
  });
});

describe('the partition of the user', () => {
  const reached = (partition: number, ...members: readonly number[]) =>
    holds({ rule: 'PartitionReached', partition, members, pinned: [] });
  inPartitionMode({
    'is not gone below': { given: midway(2), settings: { partition: 2 }, decides: reached(2, 0, 1) },
    'is gone down to': { given: stale(), settings: { partition: 2 }, decides: healthy(2) },
    'stages the update when it is as high as there are members': {
      given: stale(),
      settings: { partition: 3 },
      decides: reached(3, 0, 1, 2),
    },
    'lets it go on when it is lowered': { given: midway(2), settings: { partition: 1 }, decides: healthy(1) },
    'does not raise that of the StatefulSet again': {
      given: midway(1),
      settings: { partition: 2 },
      decides: reached(2, 0),
    },
    'keeps everybody when it is no number': {
      given: stale(),
      settings: { partition: Number.NaN },
      decides: reached(Number.NaN, 0, 1, 2),
    },
    'waits until the last updated member has settled': {
      given: midway(2).members(member(2).updated().participatingFor(1)),
      settings: { partition: 2 },
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
  });
});

describe('while the StatefulSet controller has not replaced a member yet', () => {
  const working = (ordinal: number): Hold => ({
    rule: 'UpdatedMemberNotParticipating',
    member: ordinal,
    wait: { for: 'revision' },
  });
  inPartitionMode({
    'the next one waits': { given: stale().atPartition(2), decides: holds(working(2)) },
    'the last one is waited for by name': {
      given: midway(0).members(member(0).stale()),
      decides: holds(working(0)),
    },
    'so it is without any partition': {
      given: stale().statefulSet({ partition: null }),
      decides: holds(working(2)),
    },
    'one that is terminating is named as such': {
      given: stale().atPartition(2).members(member(2).stale().terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
    },
    'what an updated member still needs is reported first': {
      given: midway(0).members(member(0).stale(), member(2).updated().participatingFor(4)),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
  });
});

describe('a pinned member', () => {
  inPartitionMode({
    'ends it there': {
      given: stale(),
      settings: { pinnedOrdinals: [2] },
      decides: holds({ rule: 'PartitionReached', partition: 0, members: [], pinned: [2] }),
    },
    'is passed when it is updated already': {
      given: stale().members(member(2).updated()),
      settings: { pinnedOrdinals: [2] },
      decides: lowers('AlreadyUpdated', 2),
    },
    'does not matter before its turn': { given: stale(), settings: { pinnedOrdinals: [1] }, decides: healthy(2) },
  });
});

describe('the gates of a healthy member in partition mode', () => {
  const settling = (ordinal: number): Hold => ({
    rule: 'UpdatedMemberNotParticipating',
    member: ordinal,
    wait: { for: 'minReadySeconds', minReadySeconds: 5 },
  });
  inPartitionMode({
    'the one before has to settle': {
      given: midway(2).members(member(2).updated().participatingFor(4)),
      decides: holds(settling(2)),
      requeueAfterSeconds: 1,
    },
    'has settled': { given: midway(2).members(member(2).updated().participatingFor(5)), decides: healthy(1) },
    'MOCO has to be done with the roles': {
      given: midway(2).members(member(2).updated().unlabelled()),
      decides: holds({ rule: 'RolesNotSettled', members: [2] }),
    },
    'no switchover may be under way': {
      given: stale().members(member(0).stale().demotedBySomebody(10)),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
    },
    'no member may have a foreign demote': {
      given: stale().members(member(1).stale().demotedBySomebody(10)),
      decides: holds({ rule: 'ForeignDemote', member: 1 }),
    },
    'no member may be terminating': {
      given: stale().members(member(1).stale().terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 1 }),
    },
    'no other member may be unavailable': {
      given: stale().members(member(1).stale().lagging()),
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
    },
    'MOCO has to say that the cluster is healthy': {
      given: stale().unhealthy(),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    },
    'and that all are in sync': {
      given: stale().mysqlCluster({ syncedReplicas: 2 }),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: true, synced: 2, replicas: 3 }),
    },
    'the budget has to allow it': {
      given: stale().budgets({ disruptionsAllowed: 0, currentHealthy: 2 }),
      decides: holds({
        rule: 'BlockedByPDB',
        budget: 'moco-test',
        cause: 'used',
        healthy: 2,
        needed: 2,
        message: null,
      }),
    },
    'no backup may run': {
      given: stale().budgets({ closed: true }),
      decides: holds({ rule: 'BackupRunning', budget: 'moco-test' }),
    },
    'no backup may run where there is no budget to say so': {
      given: stale(1).backupJobs({}),
      decides: holds(backupRunning),
    },
    'MOCO may not protect it': {
      given: midway(1).members(member(0).stale().preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'it may not recover': {
      given: stale().members(member(2).stale().recovering(300)),
      decides: holds({ rule: 'AwaitingRecovery', member: 2, graceSeconds: 3600 }),
    },
    'MOCO may not protect the replica, and partitions can take no member before it': {
      given: stale().members(member(2).preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 2 }),
    },
    'a person has to have approved that the primary goes': {
      given: midway(1),
      settings: { primaryUpdatePolicy: 'Manual' },
      decides: holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter }),
    },
    'a person has approved it': {
      given: midway(1),
      settings: { primaryUpdatePolicy: 'Manual', approvedRevision: revisionAfter },
      decides: healthy(0),
    },
    'a replica needs no approval': {
      given: midway(1).primaryAt(2),
      settings: { primaryUpdatePolicy: 'Manual' },
      decides: healthy(0),
    },
    'a second one goes while the first is starting, when two may be unavailable': {
      given: midway(4, 5).members(member(4).updated().starting()),
      settings: { maxUnavailable: 2 },
      decides: healthy(3),
    },
    'a third one does not': {
      given: midway(3, 5).members(member(4).updated().starting(), member(3).updated().starting()),
      settings: { maxUnavailable: 2 },
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [3, 4], maxUnavailable: 2 }),
    },
  });
});

describe('the gates of a member that does not work, in partition mode', () => {
  const lowered = (ordinal: number) => lowers('MemberNotParticipating', ordinal, ordinal);
  inPartitionMode({
    'neither Healthy nor the budget is checked when it is down': {
      given: stale().members(member(2).stale().down('ErrImagePull')),
      decides: lowers('MemberDown', 2, 2),
    },
    'nor when it lags': { given: stale().members(member(2).stale().lagging()), decides: lowered(2) },
    'nor when it is unreachable': { given: stale().members(member(2).stale().unreachable()), decides: lowered(2) },
    'nor when a sidecar does not work': {
      given: stale().members(member(2).stale().impaired('slow-log')),
      decides: lowers('MemberImpaired', 2, 2),
    },
    'one that is down does no work, and waits for no other': {
      given: stale().members(member(2).stale().down('ErrImagePull'), member(1).stale().lagging()).queued(1, 1),
      decides: lowers('MemberDown', 2, 2),
    },
    'nor does it wait for the end of a pause that allows repairs': {
      given: stale().members(member(2).stale().down('ErrImagePull')),
      settings: { paused: true, repairWhilePaused: true },
      decides: lowers('MemberDown', 2, 2),
    },
    'the partition passes one that is updated without a slot': {
      given: stale().members(member(2).updated()).queued(1, 1),
      decides: lowers('AlreadyUpdated', 2),
    },
    'a primary does not pass a pinned replica': {
      given: stale().primaryAt(2),
      settings: { pinnedOrdinals: [1] },
      decides: holds({ rule: 'PrimaryWaitsForPinned', member: 2, pinned: [1] }),
    },
    'every other has to participate when a sidecar does not work': {
      given: stale().members(member(2).stale().impaired('slow-log'), member(1).stale().lagging()),
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
    },
    'one that is down before its turn waits for it': {
      given: stale().members(member(1).stale().down('ErrImagePull')),
      decides: holds({
        rule: 'MemberDownOutOfOrder',
        member: 1,
        pod: 'moco-test-1',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    },
    'an updated one that is down is waited for as such': {
      given: midway(2).members(member(2).updated().down('ErrImagePull')).memory({ verified: true }),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: {
          for: 'state',
          state: 'down',
          evidence: { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 },
        },
      }),
    },
    'one that has not served for longer than a failover takes is named as well': {
      given: stale().members(member(1).stale().lagging(180)),
      decides: holds({
        rule: 'MemberDownOutOfOrder',
        member: 1,
        pod: 'moco-test-1',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    },
    'and not before': {
      given: stale().members(member(1).stale().lagging(179)),
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
      requeueAfterSeconds: 1,
    },
    'one that lags before its turn waits for it': {
      given: stale().members(member(1).stale().lagging()),
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
    },
    'no backup may run': {
      given: stale().members(member(2).stale().lagging()).budgets({ closed: true }),
      decides: holds({ rule: 'BackupRunning', budget: 'moco-test' }),
    },
    'MOCO may not protect it': {
      given: midway(1).members(member(0).stale().down('ErrImagePull').preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'a primary that does not work goes when it is its turn': {
      given: midway(1).members(member(0).stale().down('ErrImagePull')),
      decides: lowers('MemberDown', 0, 0),
    },
  });
});

describe('holds in partition mode', () => {
  inPartitionMode({
    'the strategy is none: OnDelete belongs to the other mode': {
      given: stale().statefulSet({ strategy: 'OnDelete', labelled: false, partition: 3 }),
      decides: healthy(2),
    },
    'nor is a cluster that was released': { given: stale().released(), decides: healthy(2) },
    'what stops MOCO is': {
      given: stale().mysqlCluster({ reconciliationStopped: true }),
      decides: holds({ rule: 'ReconciliationStopped' }),
    },
    'settings that can not be read are': {
      given: stale().settingsProblem('spec.partition is -1'),
      decides: holds({ rule: 'SettingsInvalid', problem: 'spec.partition is -1' }),
    },
    'paused is': { given: stale(), settings: { paused: true }, decides: holds({ rule: 'Paused' }) },
    'a failing revision is, and no time ends it: no member is deleted in this mode': {
      given: midway(2)
        .members(
          member(2).updated().down('ErrImagePull'),
          member(1).stale().down('ErrImagePull'),
          member(0).stale().lagging(),
        )
        .memory({ sinceProgressSeconds: 600 }),
      decides: holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 },
      }),
    },
    'a missing member is, with what the StatefulSet says of it': {
      given: midway(2).missing(2).createFailure('exceeded quota'),
      decides: holds({ rule: 'MemberMissing', members: [2], message: 'exceeded quota' }),
    },
    'a full fleet is': {
      given: stale().queued(1, 1),
      decides: holds({ rule: 'AwaitingFleetSlot', place: 1, limit: 1, stalled: 0 }),
    },
    'its own last write is': {
      given: stale().ownWritePending('setPartition'),
      decides: holds({ rule: 'AwaitingOwnWrite', write: 'setPartition' }),
    },
    'a demotion left from the other mode is taken back': {
      given: stale().members(member(0).stale().demotedByUs(1)),
      decides: takesBack(0, 'StrategyChanged'),
    },
  });
});
