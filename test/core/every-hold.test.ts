import { expect } from 'chai';
import { decide, decideBy } from '../../src/core/decide.ts';
import type { HoldRule } from '../../src/core/decision.ts';
import { type Gates, gates } from '../../src/core/gates.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { isOverridable } from '../../src/core/rules/catalogue.ts';
import { appeared, cluster, fleetFailing, fleetHolds } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { openWrite, shownWrite } from './mysql-readings.ts';
import {
  type Case,
  check,
  deletes,
  demotes,
  evicts,
  handsBack,
  holds,
  lowers,
  promotes,
  setsStrategy,
} from './table.ts';

const stale = () => cluster(3).templateChanged();
/** Somebody else takes 2 while 1 is down, and nobody has shown that the revision works. */
const drained = () =>
  stale()
    .members(member(1).stale().down('CrashLoopBackOff'), member(2).stale().terminating())
    .memory({ waiting: [1, 2] });
const lastOne = () => cluster(3).members(member(0).stale());
const next = evicts('ReplicaHealthy', 2);
/** Members that are down wait for no other cluster. */
const waitsForOthers = (rule: keyof typeof fleetHolds) => ({
  applies: { given: stale().waitingForOthers(fleetHolds[rule]), decides: holds(fleetHolds[rule]) },
  justDoesNot: {
    given: stale().waitingForOthers(fleetHolds[rule]).members(member(1).down('ImagePullBackOff')),
    decides: deletes('MemberDown', 1),
  },
});
const refusedNode = { nodeName: 'n-1', message: 'not found', againInSeconds: 60 } as const;
const failing = { kind: 'failing', series: { labels: {}, value: '1', others: 0 } } as const;
/** As it is remembered. */
const eviction = { step: `evict uid-2 ${revisionAfter}` };
const crashing = { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 } as const;

const ifPossible = { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' } } as const;
const onlyInPlace = { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'Only' } } as const;

/** The compiler demands a line for each rule: facts to which it applies, and facts to which it just does not. */
const everyHold: Readonly<Record<HoldRule, { readonly applies: Case; readonly justDoesNot: Case }>> = {
  SnapshotInconsistent: {
    applies: {
      given: stale().mysqlCluster({ primaryIndex: 3 }),
      decides: holds({ rule: 'SnapshotInconsistent', problem: 'the primary index 3 is not one of 3 members' }),
    },
    justDoesNot: { given: stale().primaryAt(2), decides: evicts('ReplicaHealthy', 1) },
  },
  ClusterDeleting: {
    applies: { given: stale().mysqlCluster({ deleting: true }), decides: holds({ rule: 'ClusterDeleting' }) },
    justDoesNot: { given: stale().mysqlCluster({ deleting: false }), decides: next },
  },
  RolloutNotOwned: {
    applies: {
      given: stale().rolloutProblem({ kind: 'notOwned', owner: 'other (uid 1)' }),
      decides: holds({ rule: 'RolloutNotOwned', owner: 'other (uid 1)' }),
    },
    justDoesNot: { given: stale().rolloutProblem(null), decides: next },
  },
  RolloutTerminating: {
    applies: {
      given: stale().rolloutProblem({ kind: 'terminating', finalizers: ['example.com/keep'] }),
      decides: holds({ rule: 'RolloutTerminating', finalizers: ['example.com/keep'] }),
    },
    justDoesNot: { given: stale().rolloutProblem(null), decides: next },
  },
  StatefulSetMissing: {
    applies: { given: stale().statefulSet(null), decides: holds({ rule: 'StatefulSetMissing' }) },
    justDoesNot: { given: stale().statefulSet({}), decides: next },
  },
  DefinitionOutdated: {
    applies: {
      given: stale().statusRefusal('unknown field'),
      decides: holds({ rule: 'DefinitionOutdated', message: 'unknown field' }),
    },
    justDoesNot: { given: stale().statusRefusal(null), decides: next },
  },
  AwaitingOwnWrite: {
    applies: {
      given: stale().ownWritePending('evict moco-test-2'),
      decides: holds({ rule: 'AwaitingOwnWrite', write: 'evict moco-test-2' }),
    },
    justDoesNot: { given: stale(), decides: next },
  },
  SettingsInvalid: {
    applies: {
      given: stale().settingsProblem('spec.partition is -1'),
      decides: holds({ rule: 'SettingsInvalid', problem: 'spec.partition is -1' }),
    },
    justDoesNot: { given: stale(), decides: next },
  },
  StatefulSetDeleting: {
    applies: { given: stale().statefulSet({ deleting: true }), decides: holds({ rule: 'StatefulSetDeleting' }) },
    justDoesNot: { given: stale().statefulSet({ deleting: false }), decides: next },
  },
  StatefulSetNotObserved: {
    applies: { given: stale().statefulSet({ observed: false }), decides: holds({ rule: 'StatefulSetNotObserved' }) },
    justDoesNot: { given: stale().statefulSet({ observed: true }), decides: next },
  },
  Released: {
    applies: {
      given: stale().released().atPartition(3).statefulSet({ observed: false }),
      decides: holds({ rule: 'Released' }),
    },
    justDoesNot: {
      given: stale().released().atPartition(3),
      settings: { mode: 'Partition' },
      decides: lowers('ReplicaHealthy', 2, 2),
    },
  },
  ReconciliationStopped: {
    applies: {
      given: stale().mysqlCluster({ reconciliationStopped: true }),
      decides: holds({ rule: 'ReconciliationStopped' }),
    },
    justDoesNot: { given: stale().mysqlCluster({ reconciliationStopped: false }), decides: next },
  },
  ClusteringStopped: {
    applies: {
      given: stale().mysqlCluster({ clusteringStopped: true }),
      decides: holds({ rule: 'ClusteringStopped' }),
    },
    justDoesNot: { given: stale().mysqlCluster({ clusteringStopped: false }), decides: next },
  },
  Offline: {
    applies: { given: stale().mysqlCluster({ offline: true }), decides: holds({ rule: 'Offline' }) },
    justDoesNot: { given: stale().mysqlCluster({ offline: false }), decides: next },
  },
  ForcedRollingUpdate: {
    applies: {
      given: stale().mysqlCluster({ forcedRollingUpdate: true }),
      decides: holds({ rule: 'ForcedRollingUpdate' }),
    },
    justDoesNot: { given: stale().mysqlCluster({ forcedRollingUpdate: false }), decides: next },
  },
  // The one that names its own step, by which it shows.
  StrategyNotOnDelete: {
    applies: { given: stale().statefulSet({ strategy: 'RollingUpdate', labelled: false }), decides: setsStrategy },
    justDoesNot: { given: stale().statefulSet({ strategy: 'OnDelete', labelled: true }), decides: next },
  },
  AdmissionNotInForce: {
    applies: {
      given: stale().atPartition(3).admissionProblem(29),
      decides: holds({
        rule: 'AdmissionNotInForce',
        mode: 'OnDelete',
        finding: 'a dry run left it at RollingUpdate',
      }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: stale().atPartition(3).admissionProblem(30), decides: setsStrategy },
  },
  ReleaseUnsafe: {
    applies: {
      given: cluster(3).released().releaseRefused('partition 0', 9),
      decides: holds({ rule: 'ReleaseUnsafe', message: 'partition 0' }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: cluster(3).released().releaseRefused('partition 0', 10), decides: handsBack },
  },
  Paused: {
    applies: { given: stale(), settings: { paused: true }, decides: holds({ rule: 'Paused' }) },
    justDoesNot: { given: stale(), settings: { paused: false }, decides: next },
  },
  RevisionFlapping: {
    applies: {
      given: stale().memory({ recentRevisions: appeared(1, 100, 200, 599) }),
      decides: holds({ rule: 'RevisionFlapping', revisions: 4, until: 'in 1 s' }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: stale().memory({ recentRevisions: appeared(1, 100, 200, 600) }), decides: next },
  },
  NotReconciled: {
    applies: {
      given: stale().mysqlCluster({ generation: 3 }),
      decides: holds({ rule: 'NotReconciled', generation: 3, succeeded: 2 }),
    },
    justDoesNot: {
      given: stale().mysqlCluster({ generation: 3, reconciledGeneration: 3, succeededGeneration: 3 }),
      decides: next,
    },
  },
  NotInitialized: {
    applies: { given: stale().mysqlCluster({ initialized: false }), decides: holds({ rule: 'NotInitialized' }) },
    justDoesNot: {
      given: stale().mysqlCluster({ initialized: false }).members(member(2).down('ImagePullBackOff')),
      decides: deletes('MemberDown', 2),
    },
  },
  MemberMissing: {
    applies: { given: stale().missing(1), decides: holds({ rule: 'MemberMissing', members: [1], message: null }) },
    justDoesNot: {
      given: stale().members(member(1).terminating(), member(2).down('CrashLoopBackOff')),
      decides: deletes('MemberDown', 2),
    },
  },
  Scaling: {
    applies: {
      given: cluster(5).templateChanged().statefulSet({ replicas: 3 }),
      decides: holds({ rule: 'Scaling', wanted: 5, statefulSet: 3, pods: 5 }),
    },
    justDoesNot: { given: cluster(5).templateChanged(), decides: evicts('ReplicaHealthy', 4) },
  },
  UpdateRevisionFailing: {
    applies: {
      given: stale().members(member(2).updated().down('CrashLoopBackOff')),
      decides: holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 7 },
      }),
    },
    justDoesNot: {
      given: stale().members(member(2).updated().down('CrashLoopBackOff')).memory({ verified: true }),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'state', state: 'down', evidence: crashing },
      }),
    },
  },
  AwaitingSwitchover: {
    applies: {
      given: cluster(3).members(member(0).stale().demotedByUs(30)),
      decides: holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 }),
      requeueAfterSeconds: 60,
    },
    justDoesNot: { given: cluster(3).members(member(0).stale()), decides: demotes(0) },
  },
  SwitchoverInProgress: {
    applies: {
      given: stale().members(member(0).terminating()),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, terminating: true }),
    },
    justDoesNot: {
      given: stale().members(member(1).terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 1 }),
    },
  },
  ForeignDemote: {
    applies: {
      given: stale().members(member(1).demotedBySomebody()),
      decides: holds({ rule: 'ForeignDemote', member: 1 }),
    },
    justDoesNot: {
      given: stale().members(member(0).demotedBySomebody(89)),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      requeueAfterSeconds: 1,
    },
  },
  RolesNotSettled: {
    applies: {
      given: stale().members(member(0).role('replica'), member(1).role('primary')),
      decides: holds({ rule: 'RolesNotSettled', members: [0, 1] }),
    },
    justDoesNot: {
      given: stale().primaryAt(1).members(member(0).role('replica'), member(1).role('primary')),
      decides: next,
    },
  },
  MemberProtected: {
    applies: {
      given: cluster(3).members(member(0).stale().preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    justDoesNot: {
      given: stale().members(member(2).preventDelete()),
      decides: evicts('ReplicaHealthy', 1),
    },
  },
  MemberUnreachable: {
    applies: {
      given: stale().members(member(1).unreachable(), member(2).updated().starting()),
      decides: holds({ rule: 'MemberUnreachable', member: 1 }),
    },
    justDoesNot: { given: stale().members(member(1).unreachable()), decides: deletes('MemberUnreachable', 1) },
  },
  AwaitingFailover: {
    applies: {
      given: stale().members(member(0).lagging()).primaryUnavailableFor(100),
      decides: holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
      requeueAfterSeconds: 80,
    },
    justDoesNot: {
      given: stale().members(member(0).lagging()).primaryUnavailableFor(180),
      decides: deletes('PrimaryNotParticipating', 0),
    },
  },
  FailoverUnfinished: {
    applies: {
      given: stale()
        .members(member(0).updated().down('CrashLoopBackOff'), member(1).lagging(200), member(2).lagging(200))
        .primaryUnavailableFor(200)
        .memory({ verified: true }),
      decides: holds({ rule: 'FailoverUnfinished', primary: 0, member: 2, graceSeconds: 180, said: null }),
    },
    justDoesNot: {
      given: stale().members(member(2).lagging(200)),
      decides: deletes('MemberNotParticipating', 2),
    },
  },
  AwaitingRecovery: {
    applies: {
      given: cluster(1).templateChanged().members(member(0).agentDead()).primaryUnavailableFor(179),
      decides: holds({ rule: 'AwaitingRecovery', member: 0, graceSeconds: 180 }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: cluster(1).templateChanged().members(member(0).agentDead()).primaryUnavailableFor(180),
      decides: deletes('PrimaryNotParticipating', 0),
    },
  },
  SequencesUnreadable: waitsForOthers('SequencesUnreadable'),
  SequenceConflict: waitsForOthers('SequenceConflict'),
  SequenceInvalid: waitsForOthers('SequenceInvalid'),
  StageFailing: waitsForOthers('StageFailing'),
  AwaitingEarlierStage: waitsForOthers('AwaitingEarlierStage'),
  AwaitingSoak: {
    applies: {
      given: stale().waitingForOthers(fleetHolds.AwaitingSoak, 30),
      decides: holds(fleetHolds.AwaitingSoak),
      requeueAfterSeconds: 30,
    },
    justDoesNot: { given: stale().waitingForOthers(fleetHolds.AwaitingSoak, 0), decides: next },
  },
  AwaitingSettle: {
    applies: {
      given: stale().waitingForOthers(fleetHolds.AwaitingSettle, 30),
      decides: holds(fleetHolds.AwaitingSettle),
      requeueAfterSeconds: 30,
    },
    justDoesNot: { given: stale().waitingForOthers(fleetHolds.AwaitingSettle, 0), decides: next },
  },
  AwaitingStageSlot: waitsForOthers('AwaitingStageSlot'),
  FleetFailing: {
    applies: { given: stale().waitingForOthers(fleetFailing), decides: holds(fleetFailing) },
    justDoesNot: {
      given: stale().waitingForOthers(fleetFailing).members(member(1).down('ImagePullBackOff')),
      decides: deletes('MemberDown', 1),
    },
  },
  AwaitingFleetSlot: {
    applies: {
      given: stale().queued(4, 2),
      decides: holds({ rule: 'AwaitingFleetSlot', place: 4, limit: 2, stalled: 0 }),
    },
    justDoesNot: {
      given: stale().queued(4, 2).members(member(1).down('ImagePullBackOff')),
      decides: deletes('MemberDown', 1),
    },
  },
  AwaitingFleetInterval: {
    applies: {
      given: stale().interval(60, 59),
      decides: holds({ rule: 'AwaitingFleetInterval', flag: '--disruption-interval', seconds: 60 }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: stale().interval(60, 60), decides: next },
  },
  MemberDownOutOfOrder: {
    applies: {
      given: stale().atPartition(3).members(member(0).stale().down('ErrImagePull')),
      settings: { mode: 'Partition' },
      decides: holds({
        rule: 'MemberDownOutOfOrder',
        member: 0,
        pod: 'moco-test-0',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    },
    justDoesNot: {
      given: stale().atPartition(3).members(member(2).stale().down('ErrImagePull')),
      settings: { mode: 'Partition' },
      decides: lowers('MemberDown', 2, 2),
    },
  },
  AwaitingMoco: {
    applies: {
      given: stale().atPartition(3),
      settings: { mode: 'MOCO' },
      decides: holds({ rule: 'AwaitingMoco', partition: 2, member: 2 }),
    },
    justDoesNot: { given: cluster(3).atPartition(3), settings: { mode: 'MOCO' }, decides: 'idle' },
  },
  MemberTerminating: {
    applies: {
      given: stale().members(member(2).terminating(329)),
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: stale().members(member(2).terminating(330)),
      decides: holds({ rule: 'MemberStuckTerminating', member: 2, graceSeconds: 300 }),
    },
  },
  MemberStuckTerminating: {
    applies: {
      given: stale().members(member(0).terminating(330)),
      decides: holds({ rule: 'MemberStuckTerminating', member: 0, graceSeconds: 300 }),
    },
    justDoesNot: {
      given: stale().members(member(0).terminating(329)),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, terminating: true }),
      requeueAfterSeconds: 1,
    },
  },
  NotEnoughAcknowledging: {
    applies: {
      given: stale().members(member(1).unreachable(), member(2).lagging()),
      decides: holds({ rule: 'NotEnoughAcknowledging', member: 2, others: 1, needed: 2 }),
    },
    justDoesNot: {
      given: stale().members(member(1).lagging(), member(2).lagging(180)),
      decides: deletes('MemberNotParticipating', 2),
    },
  },
  ClaimTerminating: {
    applies: {
      given: stale().members(member(2).stale().claimEnds()),
      decides: holds({
        rule: 'ClaimTerminating',
        member: 2,
        claims: [{ name: 'mysql-data-moco-test-2', state: 'terminating' }],
      }),
      requeueAfterSeconds: 60,
    },
    justDoesNot: { given: stale().members(member(1).stale().claimEnds()), decides: next },
  },
  NodeTakesNoPods: {
    applies: {
      given: lastOne().members(member(0).stale().tiedToCordonedNode()),
      decides: holds({
        rule: 'NodeTakesNoPods',
        member: 0,
        nodeName: 'n-0',
        refusals: ['is cordoned'],
        ties: ['the volume pvc-0'],
      }),
      requeueAfterSeconds: 60,
    },
    justDoesNot: { given: lastOne().members(member(0).stale().onCordonedNode()), decides: demotes(0) },
  },
  SuccessorRefused: {
    applies: {
      given: stale().members(member(2).stale().comesBack({ refusal: 'exceeded quota' })),
      decides: holds({ rule: 'SuccessorRefused', member: 2, message: 'exceeded quota' }),
      requeueAfterSeconds: 60,
    },
    justDoesNot: {
      given: stale().members(member(2).stale().down('CrashLoopBackOff').comesBack({ refusal: 'exceeded quota' })),
      decides: deletes('MemberDown', 2),
    },
  },
  ComebackUnknown: {
    applies: {
      given: stale().members(member(2).stale().comesBack({ ageSeconds: 60 })),
      decides: holds({ rule: 'ComebackUnknown', members: [2] }),
    },
    justDoesNot: { given: stale().members(member(2).stale().comesBack({ ageSeconds: 59 })), decides: next },
  },
  BackupRunning: {
    applies: {
      given: stale().members(member(2).lagging()).budgets({ closed: true }),
      decides: holds({ rule: 'BackupRunning', budget: 'moco-test' }),
    },
    justDoesNot: { given: stale().members(member(2).lagging()), decides: deletes('MemberNotParticipating', 2) },
  },
  BackupsUnreadable: {
    applies: {
      given: stale().backupsUnreadable('jobs is forbidden'),
      decides: holds({ rule: 'BackupsUnreadable', message: 'jobs is forbidden' }),
    },
    justDoesNot: { given: stale(), decides: evicts('ReplicaHealthy', 2) },
  },
  UpdatedMemberNotParticipating: {
    applies: {
      given: stale().members(member(2).updated().participatingFor(3)),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
      requeueAfterSeconds: 2,
    },
    justDoesNot: {
      given: stale().members(member(2).updated().participatingFor(5)),
      decides: evicts('ReplicaHealthy', 1),
      requeueAfterSeconds: 600,
    },
  },
  DisruptionControllerBehind: {
    applies: {
      given: stale().unobservedEvictions(5),
      decides: holds({ rule: 'DisruptionControllerBehind', evictions: 5, limit: 5 }),
      requeueAfterSeconds: 5,
    },
    justDoesNot: { given: stale().unobservedEvictions(4), decides: next },
  },
  MaxUnavailableReached: {
    applies: {
      given: stale().members(member(1).lagging()),
      settings: { partition: 2 },
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
    },
    justDoesNot: { given: stale(), settings: { partition: 2 }, decides: next },
  },
  ClusterNotHealthy: {
    applies: {
      given: stale().mysqlCluster({ syncedReplicas: 2 }),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: true, synced: 2, replicas: 3 }),
    },
    justDoesNot: { given: stale().mysqlCluster({ syncedReplicas: 3 }), decides: next },
  },
  BlockedByPDB: {
    applies: {
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
    justDoesNot: { given: stale().budgets({ disruptionsAllowed: 1 }), decides: next },
  },
  AwaitingApproval: {
    applies: {
      given: lastOne(),
      settings: { primaryUpdatePolicy: 'Manual', approvedRevision: revisionBefore },
      decides: holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter }),
    },
    justDoesNot: {
      given: lastOne(),
      settings: { primaryUpdatePolicy: 'Manual', approvedRevision: revisionAfter },
      decides: demotes(0),
    },
  },
  PrimaryWaitsForPinned: {
    applies: {
      given: lastOne().members(member(2).stale()),
      settings: { pinnedOrdinals: [2] },
      decides: holds({ rule: 'PrimaryWaitsForPinned', member: 0, pinned: [2] }),
    },
    justDoesNot: {
      given: lastOne().members(member(2).updated()),
      settings: { pinnedOrdinals: [2] },
      decides: demotes(0),
    },
  },
  AwaitingResize: {
    applies: {
      given: cluster(3).members(member(2).stale().resizing({ forSeconds: 299, deferred: 'no room' })),
      settings: ifPossible,
      decides: holds({
        rule: 'AwaitingResize',
        member: 2,
        containers: ['mysqld'],
        deferred: 'no room',
        minReadySeconds: 5,
      }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: cluster(3).members(member(2).stale().resizing({ forSeconds: 300, deferred: 'no room' })),
      settings: ifPossible,
      decides: evicts('ReplicaHealthy', 2),
    },
  },
  RestartNeeded: {
    applies: {
      given: cluster(3).members(member(2).stale().notChangeable('args differ')),
      settings: onlyInPlace,
      decides: holds({ rule: 'RestartNeeded', member: 2, reasons: ['args differ'], opensAt: null }),
    },
    justDoesNot: {
      given: cluster(3).members(member(2).stale().notChangeable('args differ')),
      settings: { ...onlyInPlace, approvedRevision: revisionAfter },
      decides: evicts('ReplicaHealthy', 2),
    },
  },
  SwitchoverFailing: {
    applies: {
      given: cluster(3).members(member(0).stale()).memory({ switchoverTries: 1, sinceLastTrySeconds: 299 }),
      decides: holds({ rule: 'SwitchoverFailing', member: 0, tries: 1, retries: true }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: cluster(3).members(member(0).stale()).memory({ switchoverTries: 1, sinceLastTrySeconds: 300 }),
      decides: demotes(0),
    },
  },
  ReplicasBehind: {
    applies: {
      given: lastOne().delay(1, { kind: 'delay', seconds: 1 }, { ageSeconds: 4 }),
      decides: holds({
        rule: 'ReplicasBehind',
        member: 0,
        limitSeconds: 1,
        graceSeconds: 30,
        replicas: [{ ordinal: 1, reading: { kind: 'delay', seconds: 1 } }],
      }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: lastOne().delay(1, { kind: 'delay', seconds: 0.99 }), decides: demotes(0) },
  },
  LongWrite: {
    applies: {
      given: lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 1 }], waitedForWritesSeconds: 59 }),
      decides: holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 0, graceSeconds: 60 }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 0 }], waitedForWritesSeconds: 59 }),
      decides: demotes(0),
    },
  },
  RevisionsKept: {
    applies: {
      given: drained().statefulSet({ strategy: 'RollingUpdate', partition: 3, newPods: 'CurrentRevision' }),
      decides: holds({ rule: 'RevisionsKept', revision: revisionBefore }),
    },
    justDoesNot: { given: drained().memory({ verified: true, waiting: [1, 2] }), decides: deletes('MemberDown', 1) },
  },
  PartitionReached: {
    applies: {
      given: cluster(3).members(member(0).stale(), member(1).stale()),
      settings: { partition: 2 },
      decides: holds({ rule: 'PartitionReached', partition: 2, members: [0, 1], pinned: [] }),
    },
    justDoesNot: {
      given: cluster(3).statefulSet({ currentRevision: 'old' }),
      settings: { partition: 2 },
      decides: promotes(3),
    },
  },
  OutsideMaintenanceWindow: {
    applies: {
      given: stale().maintenance([
        [-3600, 99],
        [7200, 7300],
      ]),
      decides: holds({
        rule: 'OutsideMaintenanceWindow',
        closesAt: 'T+99',
        neededSeconds: 100,
        opensAt: 'T+7200',
      }),
      requeueAfterSeconds: 7200,
    },
    justDoesNot: { given: stale().maintenance([[-3600, 100]]), decides: next },
  },
  Blackout: {
    applies: {
      given: stale().maintenance(null, [99, 7200]),
      decides: holds({
        rule: 'Blackout',
        from: 'T+99',
        until: 'T+7200',
        reason: 'sales',
        begun: false,
        neededSeconds: 100,
        opensAt: 'T+7200',
      }),
      requeueAfterSeconds: 7200,
    },
    justDoesNot: { given: stale().maintenance(null, [100, 7200]), decides: next },
  },
  ImageUnavailable: {
    applies: {
      given: stale().preflight({ refusals: [{ ...refusedNode, result: 'ImageUnavailable' }] }),
      decides: holds({ rule: 'ImageUnavailable', nodeName: 'n-1', message: 'not found', others: 0 }),
      requeueAfterSeconds: 60,
    },
    justDoesNot: { given: stale().preflight(), decides: next },
  },
  ConfigurationRefused: {
    applies: {
      given: stale().preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused', againInSeconds: 0 }] }),
      decides: holds({ rule: 'ConfigurationRefused', nodeName: 'n-1', message: 'not found', others: 0 }),
      requeueAfterSeconds: 5,
    },
    justDoesNot: {
      given: stale()
        .members(member(2).stale().down('CrashLoopBackOff'))
        .preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused' }] }),
      decides: deletes('MemberDown', 2),
    },
  },
  PreflightRunning: {
    applies: {
      given: stale().preflight({ awaited: [{ nodeName: 'n-1', forSeconds: 299, message: null }] }),
      decides: holds({ rule: 'PreflightRunning', nodes: ['n-1'], message: null, limitSeconds: 300 }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: stale().preflight({ awaited: [{ nodeName: 'n-1', forSeconds: 300, message: null }] }),
      decides: next,
    },
  },
  CheckFailing: {
    applies: {
      given: stale().check('errant', failing, { ageSeconds: 29 }),
      decides: holds({ rule: 'CheckFailing', checks: [{ check: 'errant', labels: {}, value: '1', others: 0 }] }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), decides: next },
  },
  CheckPending: {
    applies: {
      given: stale().check('errant', null),
      decides: holds({ rule: 'CheckPending', checks: ['errant'] }),
    },
    justDoesNot: { given: stale().check('errant', { kind: 'passing' }), decides: next },
  },
  CheckUnavailable: {
    applies: {
      given: stale().check('errant', { kind: 'unknown', message: 'no route' }, { ageSeconds: 29 }),
      decides: holds({ rule: 'CheckUnavailable', checks: [{ check: 'errant', message: 'no route' }] }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), decides: next },
  },
  ConfirmationTooSlow: {
    applies: {
      given: stale().stepFailed({ ...eviction, cause: 'tooSlow', tries: 3, sinceLastTrySeconds: 7 }),
      decides: holds({ rule: 'ConfirmationTooSlow', message: 'it is denied' }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: {
      given: stale().stepFailed({ ...eviction, cause: 'tooSlow', tries: 3, sinceLastTrySeconds: 8 }),
      decides: next,
    },
  },
  StepRefused: {
    applies: {
      given: stale().stepFailed({ ...eviction, tries: 1, sinceLastTrySeconds: 1 }),
      decides: holds({ rule: 'StepRefused', message: 'it is denied' }),
      requeueAfterSeconds: 1,
    },
    justDoesNot: { given: stale().stepFailed({ ...eviction, tries: 1, sinceLastTrySeconds: 2 }), decides: next },
  },
};

const factsOf = ({ given }: Case) => ('facts' in given ? given.facts() : given);
const policyOf = ({ settings }: Case) => ({ ...defaultPolicy, ...settings });
const without = (rule: HoldRule): Gates =>
  Object.fromEntries(
    Object.entries(gates).map(([kind, rules]) => [kind, rules.filter((one) => one !== rule)]),
  ) as unknown as Gates;

describe('every hold', () => {
  for (const [rule, { applies, justDoesNot }] of Object.entries(everyHold) as [
    HoldRule,
    (typeof everyHold)[HoldRule],
  ][]) {
    it(`${rule} applies`, () => check(applies));
    it(`${rule} just does not`, () => check(justDoesNot));
    if (rule === 'StrategyNotOnDelete') continue;
    it(`${rule} ${isOverridable(rule) ? 'does not hold' : 'holds all the same'} while it is overridden`, () => {
      const overrides = [{ rule, remainingSeconds: 600 }];
      const { hold } = decide(factsOf(applies), { ...policyOf(applies), overrides });
      expect(hold?.rule === rule).to.equal(!isOverridable(rule));
    });
    it(`${rule} is not forgotten in the table of gates: nothing else holds in its place`, () => {
      const { hold } = decideBy(without(rule), factsOf(applies), policyOf(applies));
      expect(hold?.rule).not.to.equal(rule);
    });
  }
});
