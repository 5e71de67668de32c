import { expect } from 'chai';
import type { HoldRule } from '../../src/core/decision.ts';
import { gates } from '../../src/core/gates.ts';
import { markOfLeavingNode, type UndemoteReason } from '../../src/core/step.ts';
import { appeared, type ClusterBuilder, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { everyStep } from './step-examples.ts';
import { type Case, check, decideCase, evicts, holds, takesBack, when } from './table.ts';

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
  NodeStays: {
    applies: when(three(member(0).demotedByUs(30, markOfLeavingNode)), takesBack(0, 'NodeStays'), {
      nodeMaintenance: 'Switchover',
    }),
    justDoesNot: when(three(member(0).onCordonedNode().demotedByUs(30, markOfLeavingNode)), awaiting, {
      nodeMaintenance: 'Switchover',
    }),
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
