import type { Hold } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { holds, lowers, play, type Table, takesBack } from './table.ts';

const wishes: Partial<RolloutPolicy> = { mode: 'Partition' };

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
      Object.entries(table).map(([sentence, one]) => [sentence, { ...one, wishes: { ...wishes, ...one.wishes } }]),
    ),
  );

describe('a rollout by partitions', () => {
  inPartitionMode({
    'the last one goes first': { given: stale(), decides: healthy(2) },
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
      given: stale().members(member(2).updated().lagging()).memory({ proven: true }),
      decides: lowers('AlreadyUpdated', 2),
    },
    'nothing is left wherever the partition is, when nobody is stale or would come up stale': {
      given: cluster(3).atPartition(3),
      decides: 'idle',
    },
    'nobody is stale and a crash would bring the revision before: the partition goes down': {
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
    holds({ rule: 'PartitionReached', partition, members, held: [] });
  inPartitionMode({
    'is not gone below': { given: midway(2), wishes: { partition: 2 }, decides: reached(2, 0, 1) },
    'is gone down to': { given: stale(), wishes: { partition: 2 }, decides: healthy(2) },
    'stages the update when it is as high as there are members': {
      given: stale(),
      wishes: { partition: 3 },
      decides: reached(3, 0, 1, 2),
    },
    'lets it go on when it is lowered': { given: midway(2), wishes: { partition: 1 }, decides: healthy(1) },
    'does not raise that of the StatefulSet again': {
      given: midway(1),
      wishes: { partition: 2 },
      decides: reached(2, 0),
    },
    'keeps everybody when it is no number': {
      given: stale(),
      wishes: { partition: Number.NaN },
      decides: reached(Number.NaN, 0, 1, 2),
    },
    'keeps the one below it when it is updated already, and what it is waits for its turn': {
      given: midway(2).members(member(2).updated().participatingFor(1)),
      wishes: { partition: 2 },
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
  });
});

describe('while the StatefulSet has still to replace one', () => {
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
    'one that is leaving is named as such': {
      given: stale().atPartition(2).members(member(2).stale().leaving()),
      decides: holds({ rule: 'MemberLeaving', member: 2 }),
    },
    'what an updated one owes is said first': {
      given: midway(0).members(member(0).stale(), member(2).updated().participatingFor(4)),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
  });
});

describe('one that the user holds', () => {
  inPartitionMode({
    'ends it there': {
      given: stale(),
      wishes: { heldOrdinals: [2] },
      decides: holds({ rule: 'PartitionReached', partition: 3, members: [], held: [2] }),
    },
    'is passed when it is updated already': {
      given: stale().members(member(2).updated()),
      wishes: { heldOrdinals: [2] },
      decides: lowers('AlreadyUpdated', 2),
    },
    'is no matter before its turn': { given: stale(), wishes: { heldOrdinals: [1] }, decides: healthy(2) },
  });
});

describe('the gates of a healthy one', () => {
  const settling = (ordinal: number): Hold => ({
    rule: 'UpdatedMemberNotParticipating',
    member: ordinal,
    wait: { for: 'minReadySeconds', minReadySeconds: 5 },
  });
  inPartitionMode({
    'the one before has to settle': {
      given: midway(2).members(member(2).updated().participatingFor(4)),
      decides: holds(settling(2)),
      lookAgainInSeconds: 1,
    },
    'has settled': { given: midway(2).members(member(2).updated().participatingFor(5)), decides: healthy(1) },
    'MOCO has to be done with the roles': {
      given: midway(2).members(member(2).updated().unlabelled()),
      decides: holds({ rule: 'RolesNotSettled', members: [2] }),
    },
    'no switchover may be under way': {
      given: stale().members(member(0).stale().demotedBySomebody(10)),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, leaving: false }),
    },
    'nobody may be about to be demoted by somebody else': {
      given: stale().members(member(1).stale().demotedBySomebody(10)),
      decides: holds({ rule: 'ForeignDemote', member: 1 }),
    },
    'nobody may be leaving': {
      given: stale().members(member(1).stale().leaving()),
      decides: holds({ rule: 'MemberLeaving', member: 1 }),
    },
    'no other may be away': {
      given: stale().members(member(1).stale().lagging()),
      decides: holds({ rule: 'BudgetUsed', away: [1], maxUnavailable: 1 }),
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
      decides: holds({
        rule: 'BlockedByPDB',
        budget: 'moco-test',
        cause: 'closed',
        healthy: 3,
        needed: 2,
        message: null,
      }),
    },
    'no backup may run where there is no budget to say so': {
      given: stale(1).backupJob(),
      decides: holds({ rule: 'BackupRunning' }),
    },
    'MOCO may not protect it': {
      given: midway(1).members(member(0).stale().preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'it may not recover': {
      given: stale().members(member(2).stale().recovering(300)),
      decides: holds({ rule: 'AwaitingRecovery', member: 2, graceSeconds: 600 }),
    },
    'MOCO may not protect a replica, and partitions can take nobody before it': {
      given: stale().members(member(2).preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 2 }),
    },
    'a person has to have approved that the primary goes': {
      given: midway(1),
      wishes: { primaryUpdatePolicy: 'Manual' },
      decides: holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter }),
    },
    'a person has approved it': {
      given: midway(1),
      wishes: { primaryUpdatePolicy: 'Manual', approvedRevision: revisionAfter },
      decides: healthy(0),
    },
    'nobody has to approve a replica': {
      given: midway(1).primaryAt(2),
      wishes: { primaryUpdatePolicy: 'Manual' },
      decides: healthy(0),
    },
    'a second one goes while the first is starting, where two may be away': {
      given: midway(4, 5).members(member(4).updated().starting()),
      wishes: { maxUnavailable: 2 },
      decides: healthy(3),
    },
    'a third one does not': {
      given: midway(3, 5).members(member(4).updated().starting(), member(3).updated().starting()),
      wishes: { maxUnavailable: 2 },
      decides: holds({ rule: 'BudgetUsed', away: [3, 4], maxUnavailable: 2 }),
    },
  });
});

describe('the gates of one that does not work', () => {
  const lowered = (ordinal: number) => lowers('MemberNotParticipating', ordinal, ordinal);
  inPartitionMode({
    'neither MOCO nor the budget is asked when it is down': {
      given: stale().members(member(2).stale().down('ErrImagePull')),
      decides: lowered(2),
    },
    'nor when it lags': { given: stale().members(member(2).stale().lagging()), decides: lowered(2) },
    'nor when it is unreachable': { given: stale().members(member(2).stale().unreachable()), decides: lowered(2) },
    'nor when a sidecar does not work': {
      given: stale().members(member(2).stale().impaired('slow-log')),
      decides: lowers('MemberImpaired', 2, 2),
    },
    'every other has to participate': {
      given: stale().members(member(2).stale().down('ErrImagePull'), member(1).stale().lagging()),
      decides: holds({ rule: 'BudgetUsed', away: [1, 2], maxUnavailable: 1 }),
    },
    'every other has to participate when a sidecar does not work': {
      given: stale().members(member(2).stale().impaired('slow-log'), member(1).stale().lagging()),
      decides: holds({ rule: 'BudgetUsed', away: [1], maxUnavailable: 1 }),
    },
    'one that is down before its turn waits for it': {
      given: stale().members(member(1).stale().down('ErrImagePull')),
      decides: holds({
        rule: 'MemberDownOutOfTurn',
        member: 1,
        pod: 'moco-test-1',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    },
    'one that is down and updated is waited for as what it is': {
      given: midway(2).members(member(2).updated().down('ErrImagePull')).memory({ proven: true }),
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
        rule: 'MemberDownOutOfTurn',
        member: 1,
        pod: 'moco-test-1',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    },
    'and not before': {
      given: stale().members(member(1).stale().lagging(179)),
      decides: holds({ rule: 'BudgetUsed', away: [1], maxUnavailable: 1 }),
      lookAgainInSeconds: 1,
    },
    'one that lags before its turn waits for it': {
      given: stale().members(member(1).stale().lagging()),
      decides: holds({ rule: 'BudgetUsed', away: [1], maxUnavailable: 1 }),
    },
    'no backup may run': {
      given: stale().members(member(2).stale().lagging()).budgets({ closed: true }),
      decides: holds({ rule: 'BackupRunning' }),
    },
    'MOCO may not protect it': {
      given: midway(1).members(member(0).stale().down('ErrImagePull').preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'a primary that does not work goes when it is its turn': {
      given: midway(1).members(member(0).stale().down('ErrImagePull')),
      decides: lowered(0),
    },
  });
});

describe('holds in partition mode', () => {
  inPartitionMode({
    'the strategy is none: OnDelete belongs to the other mode': {
      given: stale().statefulSet({ strategy: 'OnDelete', labelled: false, partition: 3 }),
      decides: healthy(2),
    },
    'nor is a cluster that was handed back': { given: stale().handedBack(), decides: healthy(2) },
    'what stops MOCO is': {
      given: stale().mysqlCluster({ reconciliationStopped: true }),
      decides: holds({ rule: 'ReconciliationStopped' }),
    },
    'wishes that can not be read are': {
      given: stale().policyProblem('spec.partition is -1'),
      decides: holds({ rule: 'PolicyUnknown', problem: 'spec.partition is -1' }),
    },
    'paused is': { given: stale(), wishes: { paused: true }, decides: holds({ rule: 'Paused' }) },
    'a failing revision is, and no time ends it: nobody is deleted in this mode': {
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
