import { expect } from 'chai';
import type { HoldRule } from '../../src/core/decision.ts';
import { gates } from '../../src/core/gates.ts';
import type { StepRule, UndemoteReason } from '../../src/core/step.ts';
import { appeared, type ClusterBuilder, cluster, lastOne, stale, three } from './cluster-builder.ts';
import { changeOf, member, resourcesOf } from './member-builder.ts';
import {
  type Case,
  check,
  decideCase,
  deletes,
  demotes,
  evicts,
  holds,
  lowers,
  promotes,
  resizes,
  takesBack,
  updates,
  updatesInPlace,
  when,
} from './table.ts';

const inPlace = updatesInPlace('IfPossible');

/** The compiler demands a line for each rule by which a member is taken: it applies, and it just does not. */
const everyStep: Readonly<Record<StepRule, { readonly applies: Case; readonly justDoesNot: Case }>> = {
  MemberDown: {
    applies: when(stale().members(member(1).creating(60)), deletes('MemberDown', 1)),
    justDoesNot: when(stale().members(member(1).creating(59)), deletes('MemberNotParticipating', 1), {}, 1),
  },
  MemberUnreachable: {
    applies: when(stale().members(member(1).unreachable()), deletes('MemberUnreachable', 1)),
    justDoesNot: when(
      stale().members(member(1).unreachable(), member(2).unreachable()),
      holds({ rule: 'MemberUnreachable', member: 2 }),
    ),
  },
  MemberNotParticipating: {
    applies: when(stale().members(member(1).lagging()), deletes('MemberNotParticipating', 1)),
    justDoesNot: when(stale(), evicts('ReplicaHealthy', 2)),
  },
  PrimaryNotParticipating: {
    applies: when(
      stale().members(member(0).agentDead()).primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
    ),
    justDoesNot: when(
      stale().members(member(0).agentDead(), member(1).lagging()).primaryUnavailableFor(180),
      deletes('MemberNotParticipating', 1),
    ),
  },
  MemberImpaired: {
    applies: when(stale().members(member(1).sidecarNotReady('slow-log', 60)), deletes('MemberImpaired', 1)),
    justDoesNot: when(
      stale().members(member(1).sidecarNotReady('slow-log', 59)),
      holds({ rule: 'BlockedByPDB', budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null }),
      {},
      1,
    ),
  },
  ReplicaHealthy: { applies: when(stale(), evicts('ReplicaHealthy', 2)), justDoesNot: when(lastOne(), demotes(0)) },
  NothingRestarts: {
    applies: when(three(member(2).stale().changeable()), updates('NothingRestarts', 2, changeOf()), inPlace),
    justDoesNot: when(three(member(2).stale().changeable()), evicts('ReplicaHealthy', 2)),
  },
  ContainersRestart: {
    applies: when(
      three(member(2).stale().changeable('agent')),
      updates('ContainersRestart', 2, changeOf('agent')),
      inPlace,
    ),
    justDoesNot: when(three(member(2).stale().notChangeable('args differ')), evicts('ReplicaHealthy', 2), inPlace),
  },
  ResizeRestartsNothing: {
    applies: when(
      three(
        member(2)
          .stale()
          .resizable([resourcesOf('mysqld')]),
      ),
      resizes('ResizeRestartsNothing', 2, resourcesOf('mysqld')),
      inPlace,
    ),
    justDoesNot: when(
      three(member(2).stale().resizing({ awaited: [] })),
      updates('NothingRestarts', 2, changeOf()),
      inPlace,
    ),
  },
  ResizeRestartsContainers: {
    applies: when(
      three(
        member(2)
          .stale()
          .resizable([resourcesOf('slow-log', true)]),
      ),
      resizes('ResizeRestartsContainers', 2, resourcesOf('slow-log', true)),
      inPlace,
    ),
    justDoesNot: when(
      three(
        member(2)
          .stale()
          .resizable([resourcesOf('slow-log')]),
      ),
      resizes('ResizeRestartsNothing', 2, resourcesOf('slow-log')),
      inPlace,
    ),
  },
  PrimaryLast: {
    applies: when(lastOne(), demotes(0)),
    justDoesNot: when(three(member(0).stale(), member(1).stale()), evicts('ReplicaHealthy', 1)),
  },
  SingleMember: {
    applies: when(stale(1), evicts('SingleMember', 0)),
    justDoesNot: when(cluster(1).statefulSet({ currentRevision: 'old' }), promotes(1)),
  },
  AlreadyUpdated: {
    applies: when(stale().atPartition(3).members(member(2).updated().lagging()), lowers('AlreadyUpdated', 2), {
      mode: 'Partition',
    }),
    justDoesNot: when(stale().atPartition(3).members(member(2).lagging()), lowers('MemberNotParticipating', 2, 2), {
      mode: 'Partition',
    }),
  },
};

describe('every step', () => {
  for (const [rule, { applies, justDoesNot }] of Object.entries(everyStep)) {
    it(`${rule} applies`, () => check(applies));
    it(`${rule} just does not`, () => check(justDoesNot));
  }
});

const demoted = () => three(member(0).stale().demotedByUs(30));
const awaiting = holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 });

const everyTakeBack: Readonly<Record<UndemoteReason, { readonly applies: Case; readonly justDoesNot: Case }>> = {
  NoLongerPrimary: {
    applies: when(demoted().primaryAt(1), takesBack(0, 'NoLongerPrimary')),
    justDoesNot: when(demoted().primaryAt(0), awaiting),
  },
  NotDue: {
    applies: when(three(member(0).stale().demotedByUs(30, 'an-older-revision')), takesBack(0, 'NotDue')),
    justDoesNot: when(demoted(), awaiting),
  },
  OthersDue: {
    applies: when(demoted().members(member(2).stale()), takesBack(0, 'OthersDue')),
    justDoesNot: when(demoted().members(member(2).stale().terminating()), awaiting),
  },
  TimedOut: {
    applies: when(three(member(0).stale().demotedByUs(90)), takesBack(0, 'TimedOut')),
    justDoesNot: when(three(member(0).stale().demotedByUs(89)), awaiting, {}, 1),
  },
  StrategyChanged: {
    applies: when(demoted(), takesBack(0, 'StrategyChanged'), { mode: 'MOCO' }),
    justDoesNot: when(demoted(), awaiting),
  },
  MarkWithoutDemote: {
    applies: when(
      three(member(0).stale().markAlone(), member(2).stale()).primaryAt(1),
      takesBack(0, 'MarkWithoutDemote'),
    ),
    justDoesNot: when(three(member(0).stale().markAlone()).primaryAt(1), evicts('ReplicaHealthy', 0)),
  },
};

/** By the rule that would hold: its facts beside a demotion of ours, and settings. */
type Beside = Readonly<Partial<Record<HoldRule, readonly [ClusterBuilder, Case['settings']?]>>>;

const takeItBack: Beside = {
  SettingsInvalid: [demoted().but({ settingsProblem: 'spec.partition is -1' })],
  Released: [demoted().released()],
  ReconciliationStopped: [demoted().mysqlCluster({ reconciliationStopped: true })],
  ClusteringStopped: [demoted().mysqlCluster({ clusteringStopped: true })],
  Offline: [demoted().mysqlCluster({ offline: true })],
  ForcedRollingUpdate: [demoted().statefulSet({ forcedRollingUpdate: true })],
  AdmissionNotInForce: [demoted().statefulSet({ strategy: 'RollingUpdate' }).admissionProblem(0)],
  StrategyNotOnDelete: [demoted().statefulSet({ strategy: 'RollingUpdate' })],
  Paused: [demoted(), { paused: true }],
  RevisionFlapping: [demoted().memory({ recentRevisions: appeared(1, 2, 3, 4) })],
  NotInitialized: [demoted().mysqlCluster({ initialized: false })],
  UpdateRevisionFailing: [
    demoted().members(member(1).updated().participatingFor(1), member(2).updated().crashLooping('mysqld', 7)),
  ],
  AwaitingApproval: [demoted(), { primaryUpdatePolicy: 'Manual' }],
  PrimaryWaitsForPinned: [demoted().members(member(2).stale()), { pinnedOrdinals: [2] }],
  PartitionReached: [demoted(), { partition: 1 }],
};
/** They hold everything else, and the demotion goes on: within its time, and while nothing else speaks against it. */
const letItGoOn: Beside = {
  StatefulSetDeleting: [demoted().statefulSet({ deleting: true })],
  StatefulSetNotObserved: [demoted().statefulSet({ observed: false })],
  NotReconciled: [demoted().mysqlCluster({ succeededGeneration: null })],
  MemberMissing: [demoted().missing(2)],
  Scaling: [demoted().statefulSet({ replicas: 5 })],
};
/** Nothing may be written. */
const showInstead: Beside = {
  SnapshotInconsistent: [demoted().mysqlCluster({ syncedReplicas: -1 })],
  ClusterDeleting: [demoted().mysqlCluster({ deleting: true })],
  RolloutNotOwned: [demoted().but({ rolloutProblem: { kind: 'notOwned', owner: 'other' } })],
  RolloutTerminating: [demoted().but({ rolloutProblem: { kind: 'terminating', finalizers: [] } })],
  StatefulSetMissing: [demoted().statefulSet(null)],
  DefinitionOutdated: [demoted().but({ statusRefusal: 'unknown field' })],
  AwaitingOwnWrite: [demoted().but({ ownWritePending: 'demote' })],
};
/** No gate of a demotion that goes on. */
const leaveItAlone: Beside = {
  AwaitingFleetSlot: [demoted().queued(1, 1)],
  MemberUnreachable: [demoted().members(member(2).unreachable())],
  AwaitingFailover: [three(member(0).stale().demotedByUs().lagging())],
  UpdatedMemberNotParticipating: [demoted().members(member(1).updated().lagging())],
  ClusterNotHealthy: [demoted().unhealthy()],
  CheckFailing: [demoted().check('errant', { kind: 'failing', series: { labels: {}, value: '1', others: 0 } })],
};

const entries = (beside: Beside) =>
  Object.entries(beside) as readonly [string, readonly [ClusterBuilder, Case['settings']?]][];

describe('a demotion of ours', () => {
  for (const [reason, { applies, justDoesNot }] of Object.entries(everyTakeBack)) {
    it(`is cancelled: ${reason}`, () => check(applies));
    it(`is not cancelled: ${reason}, just below the limit`, () => check(justDoesNot));
  }
  for (const [rule, [given, settings]] of entries(takeItBack)) {
    const reason = rule === 'PartitionReached' ? 'NotDue' : rule;
    it(`is cancelled under ${rule}`, () => check(when(given, takesBack(0, reason), settings)));
  }
  for (const [rule, [given, settings]] of entries(leaveItAlone)) {
    it(`is kept in a situation that would be ${rule}`, () => check(when(given, awaiting, settings)));
  }
  for (const [rule, [given]] of entries(letItGoOn)) {
    it(`continues under ${rule}`, () => {
      const { hold, requeueAfterSeconds } = decideCase({ given });
      expect({ rule: hold?.rule, requeueAfterSeconds }).to.deep.equal({ rule, requeueAfterSeconds: 60 });
    });
    it(`is cancelled at its timeout under ${rule}`, () =>
      check(when(given, takesBack(0, 'TimedOut'), { switchoverTimeoutSeconds: 30 })));
    it(`is cancelled under ${rule} if the user pauses as well`, () =>
      check(when(given, takesBack(0, 'Paused'), { paused: true })));
  }
  for (const [rule, [given]] of entries(showInstead)) {
    it(`stays under ${rule}`, () => expect(decideCase({ given }).hold?.rule).to.equal(rule));
  }

  it('is cancelled by the rules of its gate, and by a setting that leaves it without a reason', () => {
    const rules = [...gates.keepsDemotion.filter((rule) => rule !== 'MemberMissing'), 'PartitionReached'];
    expect(Object.keys(takeItBack)).to.have.members(rules);
  });
});
