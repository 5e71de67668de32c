import { expect } from 'chai';
import { decide, decideBy } from '../../src/core/decide.ts';
import type { Hold, HoldRule } from '../../src/core/decision.ts';
import { type Gates, gates } from '../../src/core/gates.ts';
import { defaultPolicy, type Override } from '../../src/core/policy.ts';
import { isOverridable } from '../../src/core/rules/catalogue.ts';
import { appeared, cluster, fleetFailing, fleetHolds, three } from './cluster-builder.ts';
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
  notYet,
  promotes,
  setsStrategy,
  when,
} from './table.ts';

const stale = () => cluster(3).templateChanged();
/** Somebody else takes 2 while 1 is down, and nobody has shown that the revision works. */
const drained = () =>
  stale()
    .members(member(1).stale().down('CrashLoopBackOff'), member(2).stale().terminating())
    .memory({ waiting: [1, 2] });
const lastOne = () => three(member(0).stale());
const next = evicts('ReplicaHealthy', 2);
/** Members that are down wait for no other cluster. */
const waitsForOthers = (rule: keyof typeof fleetHolds) => ({
  applies: when(stale().waitingForOthers(fleetHolds[rule]), holds(fleetHolds[rule])),
  justDoesNot: when(
    stale().waitingForOthers(fleetHolds[rule]).members(member(1).down('ImagePullBackOff')),
    deletes('MemberDown', 1),
  ),
});
const refusedNode = { nodeName: 'n-1', members: [2], message: 'not found', againInSeconds: 60 } as const;
const failing = { kind: 'failing', series: { labels: {}, value: '1', others: 0 } } as const;
/** As it is remembered. */
const eviction = { step: `evict uid-2 ${revisionAfter}` };
const crashing = { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 } as const;

const ifPossible = { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' } } as const;
const onlyInPlace = { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'Only' } } as const;

/** Facts to which a rule applies, and what its hold has beside the rule. */
type Held = Omit<Case, 'decides'> & { readonly shows: object };
const held = (
  given: Case['given'],
  shows: object = {},
  settings: Case['settings'] = {},
  requeueAfterSeconds?: number,
): Held => ({ given, shows, settings, ...(requeueAfterSeconds !== undefined && { requeueAfterSeconds }) });

/** The compiler demands a line for each rule: facts to which it applies, and facts to which it just does not. */
const everyHold: Readonly<Record<HoldRule, { readonly applies: Held | Case; readonly justDoesNot: Case }>> = {
  SnapshotInconsistent: {
    applies: held(stale().mysqlCluster({ primaryIndex: 3 }), {
      problem: 'the primary index 3 is not one of 3 members',
    }),
    justDoesNot: when(stale().primaryAt(2), evicts('ReplicaHealthy', 1)),
  },
  ClusterDeleting: {
    applies: held(stale().mysqlCluster({ deleting: true })),
    justDoesNot: when(stale().mysqlCluster({ deleting: false }), next),
  },
  RolloutNotOwned: {
    applies: held(stale().rolloutProblem({ kind: 'notOwned', owner: 'other (uid 1)' }), { owner: 'other (uid 1)' }),
    justDoesNot: when(stale().rolloutProblem(null), next),
  },
  RolloutTerminating: {
    applies: held(stale().rolloutProblem({ kind: 'terminating', finalizers: ['example.com/keep'] }), {
      finalizers: ['example.com/keep'],
    }),
    justDoesNot: when(stale().rolloutProblem(null), next),
  },
  StatefulSetMissing: { applies: held(stale().statefulSet(null)), justDoesNot: when(stale().statefulSet({}), next) },
  DefinitionOutdated: {
    applies: held(stale().statusRefusal('unknown field'), { message: 'unknown field' }),
    justDoesNot: when(stale().statusRefusal(null), next),
  },
  AwaitingOwnWrite: {
    applies: held(stale().ownWritePending('evict moco-test-2'), { write: 'evict moco-test-2' }),
    justDoesNot: when(stale(), next),
  },
  SettingsInvalid: {
    applies: held(stale().settingsProblem('spec.partition is -1'), { problem: 'spec.partition is -1' }),
    justDoesNot: when(stale(), next),
  },
  StatefulSetDeleting: {
    applies: held(stale().statefulSet({ deleting: true })),
    justDoesNot: when(stale().statefulSet({ deleting: false }), next),
  },
  StatefulSetNotObserved: {
    applies: held(stale().statefulSet({ observed: false })),
    justDoesNot: when(stale().statefulSet({ observed: true }), next),
  },
  Released: {
    applies: held(stale().released().atPartition(3).statefulSet({ observed: false })),
    justDoesNot: when(stale().released().atPartition(3), lowers('ReplicaHealthy', 2, 2), { mode: 'Partition' }),
  },
  ReconciliationStopped: {
    applies: held(stale().mysqlCluster({ reconciliationStopped: true })),
    justDoesNot: when(stale().mysqlCluster({ reconciliationStopped: false }), next),
  },
  ClusteringStopped: {
    applies: held(stale().mysqlCluster({ clusteringStopped: true })),
    justDoesNot: when(stale().mysqlCluster({ clusteringStopped: false }), next),
  },
  Offline: {
    applies: held(stale().mysqlCluster({ offline: true })),
    justDoesNot: when(stale().mysqlCluster({ offline: false }), next),
  },
  ForcedRollingUpdate: {
    applies: held(stale().mysqlCluster({ forcedRollingUpdate: true })),
    justDoesNot: when(stale().mysqlCluster({ forcedRollingUpdate: false }), next),
  },
  // The one that names its own step, by which it shows.
  StrategyNotOnDelete: {
    applies: when(stale().statefulSet({ strategy: 'RollingUpdate', labelled: false }), setsStrategy),
    justDoesNot: when(stale().statefulSet({ strategy: 'OnDelete', labelled: true }), next),
  },
  AdmissionNotInForce: {
    applies: held(
      stale().atPartition(3).admissionProblem(29),
      { mode: 'OnDelete', finding: 'a dry run left it at RollingUpdate' },
      {},
      1,
    ),
    justDoesNot: when(stale().atPartition(3).admissionProblem(30), setsStrategy),
  },
  ReleaseUnsafe: {
    applies: held(cluster(3).released().releaseRefused('partition 0', 9), { message: 'partition 0' }, {}, 1),
    justDoesNot: when(cluster(3).released().releaseRefused('partition 0', 10), handsBack),
  },
  Paused: { applies: held(stale(), {}, { paused: true }), justDoesNot: when(stale(), next, { paused: false }) },
  RevisionFlapping: {
    applies: held(
      stale().memory({ recentRevisions: appeared(1, 100, 200, 599) }),
      { revisions: 4, until: 'in 1 s' },
      {},
      1,
    ),
    justDoesNot: when(stale().memory({ recentRevisions: appeared(1, 100, 200, 600) }), next),
  },
  NotReconciled: {
    applies: held(stale().mysqlCluster({ generation: 3 }), { generation: 3, succeeded: 2 }),
    justDoesNot: when(stale().mysqlCluster({ generation: 3, reconciledGeneration: 3, succeededGeneration: 3 }), next),
  },
  NotInitialized: {
    applies: held(stale().mysqlCluster({ initialized: false })),
    justDoesNot: when(
      stale().mysqlCluster({ initialized: false }).members(member(2).down('ImagePullBackOff')),
      deletes('MemberDown', 2),
    ),
  },
  MemberMissing: {
    applies: held(stale().missing(1), { members: [1], message: null }),
    justDoesNot: when(
      stale().members(member(1).terminating(), member(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
    ),
  },
  Scaling: {
    applies: held(cluster(5).templateChanged().statefulSet({ replicas: 3 }), { wanted: 5, statefulSet: 3, pods: 5 }),
    justDoesNot: when(cluster(5).templateChanged(), evicts('ReplicaHealthy', 4)),
  },
  UpdateRevisionFailing: {
    applies: held(stale().members(member(2).updated().down('CrashLoopBackOff')), {
      member: 2,
      evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 7 },
    }),
    justDoesNot: when(
      stale().members(member(2).updated().down('CrashLoopBackOff')).memory({ verified: true }),
      notYet(2, 'down', crashing),
    ),
  },
  AwaitingSwitchover: {
    applies: held(three(member(0).stale().demotedByUs(30)), { member: 0, timeoutSeconds: 90 }, {}, 60),
    justDoesNot: when(three(member(0).stale()), demotes(0)),
  },
  SwitchoverInProgress: {
    applies: held(stale().members(member(0).terminating()), { member: 0, terminating: true }),
    justDoesNot: when(stale().members(member(1).terminating()), holds({ rule: 'MemberTerminating', member: 1 })),
  },
  ForeignDemote: {
    applies: held(stale().members(member(1).demotedBySomebody()), { member: 1 }),
    justDoesNot: when(
      stale().members(member(0).demotedBySomebody(89)),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      {},
      1,
    ),
  },
  RolesNotSettled: {
    applies: held(stale().members(member(0).role('replica'), member(1).role('primary')), { members: [0, 1] }),
    justDoesNot: when(stale().primaryAt(1).members(member(0).role('replica'), member(1).role('primary')), next),
  },
  MemberProtected: {
    applies: held(three(member(0).stale().preventDelete()), { member: 0 }),
    justDoesNot: when(stale().members(member(2).preventDelete()), evicts('ReplicaHealthy', 1)),
  },
  MemberUnreachable: {
    applies: held(stale().members(member(1).unreachable(), member(2).updated().starting()), { member: 1 }),
    justDoesNot: when(stale().members(member(1).unreachable()), deletes('MemberUnreachable', 1)),
  },
  AwaitingFailover: {
    applies: held(
      stale().members(member(0).lagging()).primaryUnavailableFor(100),
      { primary: 0, replica: null, graceSeconds: 180 },
      {},
      80,
    ),
    justDoesNot: when(
      stale().members(member(0).lagging()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
  },
  FailoverUnfinished: {
    applies: held(
      stale()
        .members(member(0).updated().down('CrashLoopBackOff'), member(1).lagging(200), member(2).lagging(200))
        .primaryUnavailableFor(200)
        .memory({ verified: true }),
      { primary: 0, member: 2, graceSeconds: 180, said: null },
    ),
    justDoesNot: when(stale().members(member(2).lagging(200)), deletes('MemberNotParticipating', 2)),
  },
  AwaitingRecovery: {
    applies: held(
      cluster(1).templateChanged().members(member(0).agentDead()).primaryUnavailableFor(179),
      { member: 0, graceSeconds: 180 },
      {},
      1,
    ),
    justDoesNot: when(
      cluster(1).templateChanged().members(member(0).agentDead()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
  },
  SequencesUnreadable: waitsForOthers('SequencesUnreadable'),
  SequenceConflict: waitsForOthers('SequenceConflict'),
  SequenceInvalid: waitsForOthers('SequenceInvalid'),
  StageFailing: waitsForOthers('StageFailing'),
  AwaitingEarlierStage: waitsForOthers('AwaitingEarlierStage'),
  AwaitingSoak: {
    applies: when(stale().waitingForOthers(fleetHolds.AwaitingSoak, 30), holds(fleetHolds.AwaitingSoak), {}, 30),
    justDoesNot: when(stale().waitingForOthers(fleetHolds.AwaitingSoak, 0), next),
  },
  AwaitingSettle: {
    applies: when(stale().waitingForOthers(fleetHolds.AwaitingSettle, 30), holds(fleetHolds.AwaitingSettle), {}, 30),
    justDoesNot: when(stale().waitingForOthers(fleetHolds.AwaitingSettle, 0), next),
  },
  AwaitingStageSlot: waitsForOthers('AwaitingStageSlot'),
  FleetFailing: {
    applies: when(stale().waitingForOthers(fleetFailing), holds(fleetFailing)),
    justDoesNot: when(
      stale().waitingForOthers(fleetFailing).members(member(1).down('ImagePullBackOff')),
      deletes('MemberDown', 1),
    ),
  },
  AwaitingFleetSlot: {
    applies: held(stale().queued(4, 2), { place: 4, limit: 2, stalled: 0 }),
    justDoesNot: when(stale().queued(4, 2).members(member(1).down('ImagePullBackOff')), deletes('MemberDown', 1)),
  },
  AwaitingFleetInterval: {
    applies: held(stale().interval(60, 59), { flag: '--disruption-interval', seconds: 60 }, {}, 1),
    justDoesNot: when(stale().interval(60, 60), next),
  },
  MemberDownOutOfOrder: {
    applies: held(
      stale().atPartition(3).members(member(0).stale().down('ErrImagePull')),
      { member: 0, pod: 'moco-test-0', next: 2, revision: revisionBefore, current: revisionBefore },
      { mode: 'Partition' },
    ),
    justDoesNot: when(
      stale().atPartition(3).members(member(2).stale().down('ErrImagePull')),
      lowers('MemberDown', 2, 2),
      { mode: 'Partition' },
    ),
  },
  AwaitingMoco: {
    applies: held(stale().atPartition(3), { partition: 2, member: 2 }, { mode: 'MOCO' }),
    justDoesNot: when(cluster(3).atPartition(3), 'idle', { mode: 'MOCO' }),
  },
  MemberTerminating: {
    applies: held(stale().members(member(2).terminating(329)), { member: 2 }, {}, 1),
    justDoesNot: when(
      stale().members(member(2).terminating(330)),
      holds({ rule: 'MemberStuckTerminating', member: 2, graceSeconds: 300 }),
    ),
  },
  MemberStuckTerminating: {
    applies: held(stale().members(member(0).terminating(330)), { member: 0, graceSeconds: 300 }),
    justDoesNot: when(
      stale().members(member(0).terminating(329)),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: true }),
      {},
      1,
    ),
  },
  NotEnoughAcknowledging: {
    applies: held(stale().members(member(1).unreachable(), member(2).lagging()), { member: 2, others: 1, needed: 2 }),
    justDoesNot: when(
      stale().members(member(1).lagging(), member(2).lagging(180)),
      deletes('MemberNotParticipating', 2),
    ),
  },
  ClaimTerminating: {
    applies: held(
      stale().members(member(2).stale().claimEnds()),
      { member: 2, claims: [{ name: 'mysql-data-moco-test-2', state: 'terminating' }] },
      {},
      60,
    ),
    justDoesNot: when(stale().members(member(1).stale().claimEnds()), next),
  },
  NodeTakesNoPods: {
    applies: held(
      lastOne().members(member(0).stale().tiedToCordonedNode()),
      { member: 0, nodeName: 'n-0', refusals: ['is cordoned'], ties: ['the volume pvc-0'] },
      {},
      60,
    ),
    justDoesNot: when(lastOne().members(member(0).stale().onCordonedNode()), demotes(0)),
  },
  SuccessorRefused: {
    applies: held(
      stale().members(member(2).stale().comesBack({ refusal: 'exceeded quota' })),
      { member: 2, message: 'exceeded quota' },
      {},
      60,
    ),
    justDoesNot: when(
      stale().members(member(2).stale().down('CrashLoopBackOff').comesBack({ refusal: 'exceeded quota' })),
      deletes('MemberDown', 2),
    ),
  },
  ComebackUnknown: {
    applies: held(stale().members(member(2).stale().comesBack({ ageSeconds: 60 })), { members: [2] }),
    justDoesNot: when(stale().members(member(2).stale().comesBack({ ageSeconds: 59 })), next),
  },
  BackupRunning: {
    applies: held(stale().members(member(2).lagging()).budgets({ closed: true }), { budget: 'moco-test' }),
    justDoesNot: when(stale().members(member(2).lagging()), deletes('MemberNotParticipating', 2)),
  },
  BackupsUnreadable: {
    applies: held(stale().backupsUnreadable('jobs is forbidden'), { message: 'jobs is forbidden' }),
    justDoesNot: when(stale(), evicts('ReplicaHealthy', 2)),
  },
  UpdatedMemberNotParticipating: {
    applies: held(
      stale().members(member(2).updated().participatingFor(3)),
      { member: 2, wait: { for: 'minReadySeconds', minReadySeconds: 5 } },
      {},
      2,
    ),
    justDoesNot: when(stale().members(member(2).updated().participatingFor(5)), evicts('ReplicaHealthy', 1), {}, 600),
  },
  DisruptionControllerBehind: {
    applies: held(stale().unobservedEvictions(5), { evictions: 5, limit: 5 }, {}, 5),
    justDoesNot: when(stale().unobservedEvictions(4), next),
  },
  MaxUnavailableReached: {
    applies: held(stale().members(member(1).lagging()), { unavailable: [1], maxUnavailable: 1 }, { partition: 2 }),
    justDoesNot: when(stale(), next, { partition: 2 }),
  },
  ClusterNotHealthy: {
    applies: held(stale().mysqlCluster({ syncedReplicas: 2 }), { healthy: true, synced: 2, replicas: 3 }),
    justDoesNot: when(stale().mysqlCluster({ syncedReplicas: 3 }), next),
  },
  BlockedByPDB: {
    applies: held(stale().budgets({ disruptionsAllowed: 0, currentHealthy: 2 }), {
      budget: 'moco-test',
      cause: 'used',
      healthy: 2,
      needed: 2,
      message: null,
    }),
    justDoesNot: when(stale().budgets({ disruptionsAllowed: 1 }), next),
  },
  AwaitingApproval: {
    applies: held(
      lastOne(),
      { member: 0, revision: revisionAfter },
      { primaryUpdatePolicy: 'Manual', approvedRevision: revisionBefore },
    ),
    justDoesNot: when(lastOne(), demotes(0), { primaryUpdatePolicy: 'Manual', approvedRevision: revisionAfter }),
  },
  PrimaryWaitsForPinned: {
    applies: held(lastOne().members(member(2).stale()), { member: 0, pinned: [2] }, { pinnedOrdinals: [2] }),
    justDoesNot: when(lastOne().members(member(2).updated()), demotes(0), { pinnedOrdinals: [2] }),
  },
  AwaitingResize: {
    applies: held(
      three(member(2).stale().resizing({ forSeconds: 299, deferred: 'no room' })),
      { member: 2, containers: ['mysqld'], deferred: 'no room', minReadySeconds: 5 },
      ifPossible,
      1,
    ),
    justDoesNot: when(
      three(member(2).stale().resizing({ forSeconds: 300, deferred: 'no room' })),
      evicts('ReplicaHealthy', 2),
      ifPossible,
    ),
  },
  RestartNeeded: {
    applies: held(
      three(member(2).stale().notChangeable('args differ')),
      { member: 2, reasons: ['args differ'], opensAt: null },
      onlyInPlace,
    ),
    justDoesNot: when(three(member(2).stale().notChangeable('args differ')), evicts('ReplicaHealthy', 2), {
      ...onlyInPlace,
      approvedRevision: revisionAfter,
    }),
  },
  SwitchoverFailing: {
    applies: held(
      three(member(0).stale()).memory({ switchoverTries: 1, sinceLastTrySeconds: 299 }),
      { member: 0, tries: 1, retries: true },
      {},
      1,
    ),
    justDoesNot: when(three(member(0).stale()).memory({ switchoverTries: 1, sinceLastTrySeconds: 300 }), demotes(0)),
  },
  ReplicasBehind: {
    applies: held(
      lastOne().delay(1, { kind: 'delay', seconds: 1 }, { ageSeconds: 4 }),
      {
        member: 0,
        limitSeconds: 1,
        graceSeconds: 30,
        replicas: [{ ordinal: 1, reading: { kind: 'delay', seconds: 1 } }],
        acknowledging: null,
      },
      {},
      1,
    ),
    justDoesNot: when(lastOne().delay(1, { kind: 'delay', seconds: 0.99 }), demotes(0)),
  },
  LongWrite: {
    applies: held(
      lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 1 }], waitedForWritesSeconds: 59 }),
      { member: 0, write: shownWrite, others: 0, graceSeconds: 60 },
      {},
      1,
    ),
    justDoesNot: when(
      lastOne().mysql({ writes: [{ ...openWrite, ageSeconds: 0 }], waitedForWritesSeconds: 59 }),
      demotes(0),
    ),
  },
  RevisionsKept: {
    applies: held(drained().statefulSet({ strategy: 'RollingUpdate', partition: 3, newPods: 'CurrentRevision' }), {
      revision: revisionBefore,
    }),
    justDoesNot: when(drained().memory({ verified: true, waiting: [1, 2] }), deletes('MemberDown', 1)),
  },
  PartitionReached: {
    applies: held(
      three(member(0).stale(), member(1).stale()),
      { partition: 2, members: [0, 1], pinned: [] },
      { partition: 2 },
    ),
    justDoesNot: when(cluster(3).statefulSet({ currentRevision: 'old' }), promotes(3), { partition: 2 }),
  },
  OutsideMaintenanceWindow: {
    applies: held(
      stale().maintenance([
        [-3600, 99],
        [7200, 7300],
      ]),
      { closesAt: 'T+99', neededSeconds: 100, opensAt: 'T+7200' },
      {},
      7200,
    ),
    justDoesNot: when(stale().maintenance([[-3600, 100]]), next),
  },
  Blackout: {
    applies: held(
      stale().maintenance(null, [99, 7200]),
      { from: 'T+99', until: 'T+7200', reason: 'sales', begun: false, neededSeconds: 100, opensAt: 'T+7200' },
      {},
      7200,
    ),
    justDoesNot: when(stale().maintenance(null, [100, 7200]), next),
  },
  ImageUnavailable: {
    applies: held(
      stale().preflight({ refusals: [{ ...refusedNode, result: 'ImageUnavailable' }] }),
      { nodeName: 'n-1', message: 'not found', others: 0 },
      {},
      60,
    ),
    justDoesNot: when(stale().preflight(), next),
  },
  ConfigurationRefused: {
    applies: held(
      stale().preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused', againInSeconds: 0 }] }),
      { nodeName: 'n-1', message: 'not found', others: 0 },
      {},
      5,
    ),
    justDoesNot: when(
      stale()
        .members(member(2).stale().down('CrashLoopBackOff'))
        .preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused' }] }),
      deletes('MemberDown', 2),
    ),
  },
  PreflightRunning: {
    applies: held(
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'n-1', forSeconds: 299, message: null }] }),
      { nodes: ['n-1'], checking: null, message: null, limitSeconds: 300 },
      {},
      1,
    ),
    justDoesNot: when(
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'n-1', forSeconds: 300, message: null }] }),
      next,
    ),
  },
  CheckFailing: {
    applies: held(
      stale().check('errant', failing, { ageSeconds: 29 }),
      { checks: [{ check: 'errant', labels: {}, value: '1', others: 0 }] },
      {},
      1,
    ),
    justDoesNot: when(stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), next),
  },
  CheckPending: {
    applies: held(stale().check('errant', null), { checks: ['errant'] }),
    justDoesNot: when(stale().check('errant', { kind: 'passing' }), next),
  },
  CheckUnavailable: {
    applies: held(
      stale().check('errant', { kind: 'unknown', message: 'no route' }, { ageSeconds: 29 }),
      { checks: [{ check: 'errant', message: 'no route' }] },
      {},
      1,
    ),
    justDoesNot: when(stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), next),
  },
  ConfirmationTooSlow: {
    applies: held(
      stale().stepFailed({ ...eviction, cause: 'tooSlow', tries: 3, sinceLastTrySeconds: 7 }),
      { message: 'it is denied' },
      {},
      1,
    ),
    justDoesNot: when(stale().stepFailed({ ...eviction, cause: 'tooSlow', tries: 3, sinceLastTrySeconds: 8 }), next),
  },
  StepRefused: {
    applies: held(
      stale().stepFailed({ ...eviction, tries: 1, sinceLastTrySeconds: 1 }),
      { message: 'it is denied' },
      {},
      1,
    ),
    justDoesNot: when(stale().stepFailed({ ...eviction, tries: 1, sinceLastTrySeconds: 2 }), next),
  },
};

const factsOf = ({ given }: Pick<Case, 'given'>) => ('facts' in given ? given.facts() : given);
const policyOf = ({ settings }: Pick<Case, 'settings'>) => ({ ...defaultPolicy, ...settings });
const without = (rule: HoldRule): Gates =>
  Object.fromEntries(
    Object.entries(gates).map(([kind, rules]) => [kind, rules.filter((one) => one !== rule)]),
  ) as unknown as Gates;

describe('every hold', () => {
  for (const [rule, { applies, justDoesNot }] of Object.entries(everyHold) as [
    HoldRule,
    (typeof everyHold)[HoldRule],
  ][]) {
    it(`${rule} applies`, () =>
      check('decides' in applies ? applies : { ...applies, decides: holds({ rule, ...applies.shows } as Hold) }));
    it(`${rule} just does not`, () => check(justDoesNot));
    if (rule === 'StrategyNotOnDelete') continue;
    const decideWith = (...overrides: readonly Override[]) => {
      const { step, hold } = decide(factsOf(applies), { ...policyOf(applies), overrides });
      return { step, hold };
    };
    const decideWithout = () => {
      const { step, hold } = decideBy(without(rule), factsOf(applies), policyOf(applies));
      return { step, hold };
    };
    it(`${rule} ${isOverridable(rule) ? 'is as if it were in no gate' : 'holds all the same'} while it is overridden`, () => {
      const override = { rule, remainingSeconds: 1 };
      expect(decideWith(override)).to.deep.equal(isOverridable(rule) ? decideWithout() : decideWith());
      if (!isOverridable(rule)) return;
      const { requeueAfterSeconds } = decide(factsOf(applies), { ...policyOf(applies), overrides: [override] });
      expect(requeueAfterSeconds, 'when the override ends').to.be.within(0, 1);
    });
    it(`${rule} holds once its override has ended, and while another rule is overridden`, () => {
      for (const remainingSeconds of [0, -1])
        expect(decideWith({ rule, remainingSeconds })).to.deep.equal(decideWith());
      const another = rule === 'ForeignDemote' ? 'BackupRunning' : 'ForeignDemote';
      expect(decideWith({ rule: another, remainingSeconds: 60 })).to.deep.equal(decideWith());
    });
    it(`${rule} is not forgotten in the table of gates: nothing else holds in its place`, () => {
      expect(decideWithout().hold?.rule).not.to.equal(rule);
    });
  }
});
