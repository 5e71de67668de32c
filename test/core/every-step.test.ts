import { expect } from 'chai';
import type { HoldRule } from '../../src/core/decision.ts';
import { gates } from '../../src/core/gates.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import type { StepRule, UndemoteReason } from '../../src/core/step.ts';
import { appeared, cluster, fleetHolds, three } from './cluster-builder.ts';
import { changeOf, member, resourcesOf, revisionAfter } from './member-builder.ts';
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
  when,
} from './table.ts';

const stale = () => cluster(3).templateChanged();
const lastOne = () => three(member(0).stale());

const inPlace = { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' } } as const;

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
    applies: when(cluster(1).templateChanged(), evicts('SingleMember', 0)),
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

type OwnReason = UndemoteReason;

const demoted = () => three(member(0).stale().demotedByUs(30));
const awaiting = holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 });

const everyTakeBack: Readonly<Record<OwnReason, { readonly applies: Case; readonly justDoesNot: Case }>> = {
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

/** Rules that take a demotion back, rules that keep everybody from touching it, and rules that leave it alone. */
type OnDemotion =
  | 'takes back'
  | 'keeps from taking back'
  /** It holds everything else, and the demotion goes on: within its time, and while nothing else speaks against it. */
  | 'passes'
  | 'leaves alone'
  | 'shows instead';

const failed = { kind: 'crashLooping', container: 'mysqld', restarts: 7 } as const;
const closed = { closed: true, disruptionsAllowed: 0 };

/** What takes a demotion back has a line here; of the others those that could be taken for it. */
const onDemotion: Readonly<
  Partial<Record<HoldRule, { readonly does: OnDemotion; readonly given: Omit<Case, 'decides'> }>>
> = {
  SnapshotInconsistent: {
    does: 'keeps from taking back',
    given: { given: demoted().mysqlCluster({ syncedReplicas: -1 }) },
  },
  ClusterDeleting: { does: 'keeps from taking back', given: { given: demoted().mysqlCluster({ deleting: true }) } },
  RolloutNotOwned: {
    does: 'keeps from taking back',
    given: { given: demoted().rolloutProblem({ kind: 'notOwned', owner: 'other' }) },
  },
  RolloutTerminating: {
    does: 'keeps from taking back',
    given: { given: demoted().rolloutProblem({ kind: 'terminating', finalizers: [] }) },
  },
  StatefulSetMissing: { does: 'keeps from taking back', given: { given: demoted().statefulSet(null) } },
  DefinitionOutdated: { does: 'keeps from taking back', given: { given: demoted().statusRefusal('unknown field') } },
  AwaitingOwnWrite: { does: 'keeps from taking back', given: { given: demoted().ownWritePending('demote') } },
  SettingsInvalid: { does: 'takes back', given: { given: demoted().settingsProblem('spec.partition is -1') } },
  StatefulSetDeleting: { does: 'passes', given: { given: demoted().statefulSet({ deleting: true }) } },
  StatefulSetNotObserved: { does: 'passes', given: { given: demoted().statefulSet({ observed: false }) } },
  Released: { does: 'takes back', given: { given: demoted().released() } },
  ReconciliationStopped: {
    does: 'takes back',
    given: { given: demoted().mysqlCluster({ reconciliationStopped: true }) },
  },
  ClusteringStopped: { does: 'takes back', given: { given: demoted().mysqlCluster({ clusteringStopped: true }) } },
  Offline: { does: 'takes back', given: { given: demoted().mysqlCluster({ offline: true }) } },
  ForcedRollingUpdate: { does: 'takes back', given: { given: demoted().statefulSet({ forcedRollingUpdate: true }) } },
  AdmissionNotInForce: {
    does: 'takes back',
    given: { given: demoted().statefulSet({ strategy: 'RollingUpdate' }).admissionProblem(0) },
  },
  StrategyNotOnDelete: { does: 'takes back', given: { given: demoted().statefulSet({ strategy: 'RollingUpdate' }) } },
  Paused: { does: 'takes back', given: { given: demoted(), settings: { paused: true } } },
  RevisionFlapping: {
    does: 'takes back',
    given: { given: demoted().memory({ recentRevisions: appeared(1, 2, 3, 4) }) },
  },
  NotReconciled: { does: 'passes', given: { given: demoted().mysqlCluster({ succeededGeneration: null }) } },
  NotInitialized: { does: 'takes back', given: { given: demoted().mysqlCluster({ initialized: false }) } },
  MemberMissing: { does: 'passes', given: { given: demoted().missing(2) } },
  Scaling: { does: 'passes', given: { given: demoted().statefulSet({ replicas: 5 }) } },
  UpdateRevisionFailing: {
    does: 'takes back',
    given: {
      given: demoted().members(
        member(1).updated().participatingFor(1),
        member(2).updated().crashLooping(failed.container, failed.restarts),
      ),
    },
  },
  ForeignDemote: { does: 'leaves alone', given: { given: demoted().members(member(2).demotedBySomebody(100)) } },
  RolesNotSettled: { does: 'leaves alone', given: { given: demoted().members(member(2).unlabelled()) } },
  MemberProtected: { does: 'leaves alone', given: { given: three(member(0).stale().demotedByUs().preventDelete()) } },
  MemberUnreachable: { does: 'leaves alone', given: { given: demoted().members(member(2).unreachable()) } },
  AwaitingFailover: { does: 'leaves alone', given: { given: three(member(0).stale().demotedByUs().lagging()) } },
  AwaitingRecovery: { does: 'leaves alone', given: { given: demoted().members(member(1).lagging()) } },
  SequencesUnreadable: {
    does: 'shows instead',
    given: { given: demoted().waitingForOthers(fleetHolds.SequencesUnreadable) },
  },
  SequenceConflict: {
    does: 'shows instead',
    given: { given: demoted().waitingForOthers(fleetHolds.SequenceConflict) },
  },
  SequenceInvalid: { does: 'shows instead', given: { given: demoted().waitingForOthers(fleetHolds.SequenceInvalid) } },
  StageFailing: { does: 'shows instead', given: { given: demoted().waitingForOthers(fleetHolds.StageFailing) } },
  AwaitingEarlierStage: {
    does: 'shows instead',
    given: { given: demoted().waitingForOthers(fleetHolds.AwaitingEarlierStage) },
  },
  AwaitingSoak: { does: 'shows instead', given: { given: demoted().waitingForOthers(fleetHolds.AwaitingSoak) } },
  AwaitingSettle: { does: 'shows instead', given: { given: demoted().waitingForOthers(fleetHolds.AwaitingSettle) } },
  AwaitingStageSlot: {
    does: 'shows instead',
    given: { given: demoted().waitingForOthers(fleetHolds.AwaitingStageSlot) },
  },
  FleetFailing: { does: 'shows instead', given: { given: demoted().waitingForOthers(fleetHolds.FleetFailing) } },
  AwaitingFleetSlot: { does: 'shows instead', given: { given: demoted().queued(1, 1) } },
  AwaitingFleetInterval: { does: 'shows instead', given: { given: demoted().interval(60, 30) } },
  MemberTerminating: { does: 'leaves alone', given: { given: demoted().members(member(2).terminating()) } },
  MemberStuckTerminating: { does: 'leaves alone', given: { given: demoted().members(member(2).terminating(1000)) } },
  NotEnoughAcknowledging: {
    does: 'leaves alone',
    given: { given: demoted().members(member(1).errant(), member(2).errant()) },
  },
  BackupRunning: { does: 'leaves alone', given: { given: demoted().budgets(closed) } },
  BackupsUnreadable: { does: 'leaves alone', given: { given: demoted().backupsUnreadable('jobs is forbidden') } },
  UpdatedMemberNotParticipating: {
    does: 'leaves alone',
    given: { given: demoted().members(member(1).updated().lagging()) },
  },
  DisruptionControllerBehind: { does: 'leaves alone', given: { given: demoted().unobservedEvictions(5) } },
  MaxUnavailableReached: {
    does: 'leaves alone',
    given: { given: demoted().members(member(1).lagging(), member(2).lagging()) },
  },
  ClusterNotHealthy: { does: 'leaves alone', given: { given: demoted().unhealthy() } },
  BlockedByPDB: { does: 'leaves alone', given: { given: demoted().budgets({ disruptionsAllowed: 0 }) } },
  AwaitingApproval: { does: 'takes back', given: { given: demoted(), settings: { primaryUpdatePolicy: 'Manual' } } },
  PrimaryWaitsForPinned: {
    does: 'takes back',
    given: { given: demoted().members(member(2).stale()), settings: { pinnedOrdinals: [2] } },
  },
  AwaitingResize: {
    does: 'leaves alone',
    given: {
      given: three(member(0).stale().demotedByUs(10, revisionAfter).resizing({})),
      settings: { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible' } },
    },
  },
  RestartNeeded: {
    does: 'leaves alone',
    given: { given: demoted(), settings: { inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'Only' } } },
  },
  SwitchoverFailing: { does: 'leaves alone', given: { given: demoted().memory({ switchoverTries: 2 }) } },
  ReplicasBehind: { does: 'leaves alone', given: { given: demoted().delay(1, { kind: 'delay', seconds: 60 }) } },
  PartitionReached: { does: 'takes back', given: { given: demoted(), settings: { partition: 1 } } },
  OutsideMaintenanceWindow: { does: 'leaves alone', given: { given: demoted().maintenance([[-60, -1]]) } },
  Blackout: { does: 'leaves alone', given: { given: demoted().maintenance(null, [-60, 60]) } },
  CheckFailing: {
    does: 'leaves alone',
    given: { given: demoted().check('errant', { kind: 'failing', series: { labels: {}, value: '1', others: 0 } }) },
  },
  CheckPending: { does: 'leaves alone', given: { given: demoted().check('errant', null) } },
  ConfirmationTooSlow: { does: 'leaves alone', given: { given: demoted().stepFailed({ cause: 'tooSlow' }) } },
  StepRefused: { does: 'leaves alone', given: { given: demoted().stepFailed({}) } },
};

describe('a demotion of ours', () => {
  for (const [reason, { applies, justDoesNot }] of Object.entries(everyTakeBack)) {
    it(`is cancelled: ${reason}`, () => check(applies));
    it(`is not cancelled: ${reason}, just below the limit`, () => check(justDoesNot));
  }
  for (const [rule, { does, given }] of Object.entries(onDemotion) as [
    HoldRule,
    NonNullable<(typeof onDemotion)[HoldRule]>,
  ][]) {
    if (does === 'takes back') {
      const reason: string = rule === 'PartitionReached' ? 'NotDue' : rule;
      it(`is cancelled under ${rule}`, () => check({ ...given, decides: takesBack(0, reason) }));
    } else if (does === 'leaves alone') {
      it(`is kept in a situation that would be ${rule}`, () => check({ ...given, decides: awaiting }));
    } else if (does === 'passes') {
      it(`continues under ${rule}`, () => {
        const { hold, requeueAfterSeconds } = decideCase(given);
        expect({ rule: hold?.rule, requeueAfterSeconds }).to.deep.equal({ rule, requeueAfterSeconds: 60 });
      });
      it(`is cancelled at its timeout under ${rule}`, () => {
        const settings = { ...given.settings, switchoverTimeoutSeconds: 30 };
        check({ ...given, settings, decides: takesBack(0, 'TimedOut') });
      });
      it(`is cancelled under ${rule} if the user pauses as well`, () => {
        check({ ...given, settings: { ...given.settings, paused: true }, decides: takesBack(0, 'Paused') });
      });
    } else {
      it(`stays under ${rule}`, () => expect(decideCase(given).hold?.rule).to.equal(rule));
    }
  }

  it('is cancelled by the rules of its gate, and by a setting that leaves it without a reason', () => {
    const takeBack = Object.entries(onDemotion).filter(([, { does }]) => does === 'takes back');
    const rules = [...gates.keepsDemotion.filter((rule) => rule !== 'MemberMissing'), 'PartitionReached'];
    expect(takeBack.map(([rule]) => rule)).to.have.members(rules);
  });
});
