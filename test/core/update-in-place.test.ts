import { expect } from 'chai';
import type { InPlaceSettings } from '../../src/core/in-place-changes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { explainInPlace } from '../../src/core/update-in-place.ts';
import { backupRunning, cluster } from './cluster-builder.ts';
import { changeOf, member, resourcesOf, revisionAfter } from './member-builder.ts';
import { demotes, evicts, holds, play, resizes, updates } from './table.ts';

const agent = ['agent'] as const;
const settings = (inPlace: Partial<InPlaceSettings>, more: Partial<RolloutPolicy> = {}): Partial<RolloutPolicy> => ({
  ...more,
  inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible', ...inPlace },
});
const ifPossible = settings({});
const only = settings({ mode: 'Only' });

/** Every member can be changed, with a restart of these containers. */
const changeable = (...containers: readonly string[]) =>
  cluster(3).members(
    ...[0, 1, 2].map((ordinal) =>
      member(ordinal)
        .stale()
        .changeable(...containers),
    ),
  );
const lastOne = (...containers: readonly string[]) =>
  cluster(3).members(
    member(0)
      .stale()
      .changeable(...containers),
  );

describe('an update that restarts nothing', () => {
  play({
    'is done member by member from the top, the primary included': {
      given: cluster(3).members(member(0).stale().changeable(), member(1).stale().changeable()),
      settings: ifPossible,
      decides: updates('NothingRestarts', 1, changeOf()),
    },
    'is done to the primary without approval: nobody notices it': {
      given: lastOne(),
      settings: settings({}, { primaryUpdatePolicy: 'Manual' }),
      decides: updates('NothingRestarts', 0, changeOf()),
    },
    'waits neither for other clusters nor for a window': {
      given: changeable()
        .queued(1, 2)
        .maintenance([[60, 120]]),
      settings: ifPossible,
      decides: updates('NothingRestarts', 2, changeOf()),
    },
    'waits for nobody who is away': {
      given: cluster(3).members(member(1).stale().changeable(), member(2).lagging()),
      settings: ifPossible,
      decides: updates('NothingRestarts', 1, changeOf()),
    },
    'is not done to a member that is down: it is replaced': {
      given: cluster(3).members(member(2).stale().changeable().down('CrashLoopBackOff')),
      settings: ifPossible,
      decides: { step: { kind: 'delete', rule: 'MemberDown', ordinals: [2] } },
    },
    'is not done while the rollout is paused': {
      given: changeable(),
      settings: settings({}, { paused: true }),
      decides: holds({ rule: 'Paused' }),
    },
    'is not done to a pinned member': {
      given: cluster(3).members(member(1).stale().changeable()),
      settings: settings({}, { pinnedOrdinals: [1] }),
      decides: holds({ rule: 'PartitionReached', partition: 0, members: [], pinned: [1] }),
    },
    'is not done in the mode Never': {
      given: changeable(),
      settings: settings({ mode: 'Never' }),
      decides: evicts('ReplicaHealthy', 2),
    },
  });
});

describe('containers restart in place', () => {
  play({
    'in replicas first, from the top': {
      given: changeable('slow-log'),
      settings: ifPossible,
      decides: updates('ContainersRestart', 2, changeOf('slow-log')),
    },
    'through the gates of an eviction: a backup': {
      given: changeable('slow-log').backupJobs({}),
      settings: ifPossible,
      decides: holds(backupRunning),
    },
    'through the gates of an eviction: other clusters': {
      given: changeable('slow-log').queued(1, 2),
      settings: ifPossible,
      decides: holds({ rule: 'AwaitingFleetSlot', place: 1, limit: 2, stalled: 0 }),
    },
    'through the gates of an eviction: a protected member': {
      given: cluster(3).members(
        member(2)
          .stale()
          .changeable(...agent)
          .preventDelete(),
      ),
      settings: ifPossible,
      decides: holds({ rule: 'MemberProtected', member: 2 }),
    },
    'in one member at a time, whatever the budget': {
      given: cluster(5).members(
        member(3)
          .stale()
          .changeable(...agent),
        member(4).restartsInPlace('agent'),
      ),
      settings: settings({}, { maxUnavailable: 2 }),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 4,
        wait: { for: 'containers', containers: ['agent'] },
      }),
    },
    'in no member while another one is away, whatever the budget': {
      given: cluster(5).members(
        member(3)
          .stale()
          .changeable(...agent),
        member(4).participatingFor(0),
      ),
      settings: settings({}, { maxUnavailable: 2, minReadySeconds: 60 }),
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [4], maxUnavailable: 1 }),
    },
    'and the next member waits until the last has participated with them for minReadySeconds': {
      given: cluster(3).members(member(1).stale().changeable('slow-log'), member(2).restartedInPlace('slow-log', 4)),
      settings: ifPossible,
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
      requeueAfterSeconds: 1,
    },
    'and the next member waits until the last has had the revision for minReadySeconds, however long it has participated':
      {
        given: cluster(3).members(member(1).stale().changeable('slow-log'), member(2).relabelledFor(4)),
        settings: ifPossible,
        decides: holds({
          rule: 'UpdatedMemberNotParticipating',
          member: 2,
          wait: { for: 'minReadySeconds', minReadySeconds: 5 },
        }),
        requeueAfterSeconds: 1,
      },
    'and the next member goes then': {
      given: cluster(3).members(member(1).stale().changeable('slow-log'), member(2).restartedInPlace('slow-log', 5)),
      settings: ifPossible,
      decides: updates('ContainersRestart', 1, changeOf('slow-log')),
    },
    'and the restart that was asked for is no crash': {
      given: cluster(3).members(
        member(1).stale(),
        member(2).restartsInPlace('agent').container('agent', { restarts: 1, ready: false, readySinceRestart: false }),
      ),
      settings: ifPossible,
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'containers', containers: ['agent'] },
      }),
    },
    'and another one is': {
      given: cluster(3).members(
        member(0).stale(),
        member(1).stale(),
        member(2)
          .restartsInPlace('slow-log')
          .container('slow-log', { restarts: 2, ready: false, readySinceRestart: false }),
      ),
      settings: ifPossible,
      decides: holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'crashLooping', container: 'slow-log', restarts: 2 },
      }),
    },
    'and an image that can not be pulled stops the rollout, although mysqld goes on': {
      given: cluster(3).members(
        member(0).stale(),
        member(1).stale(),
        member(2)
          .restartsInPlace('slow-log')
          .container('slow-log', { state: 'waiting', reason: 'ImagePullBackOff', ready: false }),
      ),
      settings: ifPossible,
      decides: holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'waiting', container: 'slow-log', reason: 'ImagePullBackOff', restarts: 0 },
      }),
    },
    'in no member whose earlier update in place is not done': {
      given: cluster(3).members(member(2).stale().changeable('slow-log').restartsInPlace('slow-log')),
      settings: ifPossible,
      decides: evicts('ReplicaHealthy', 2),
    },
    'in no member without its role': {
      given: cluster(3).members(member(2).stale().changeable('slow-log').participatingFor(10).role(null)),
      settings: ifPossible,
      decides: holds({ rule: 'RolesNotSettled', members: [2] }),
    },
  });
});

describe('the primary is updated in place', () => {
  play({
    'after a switchover, whatever restarts: its pod is not ready meanwhile, and its Service has no endpoint': {
      given: lastOne('slow-log'),
      settings: ifPossible,
      decides: demotes(0),
    },
    'without a switchover if the user wants that': {
      given: lastOne(...agent),
      settings: settings({ primary: 'InPlace' }),
      decides: updates('ContainersRestart', 0, changeOf(...agent)),
    },
    'after a switchover if the user wants that': {
      given: lastOne('slow-log'),
      settings: settings({ primary: 'AfterSwitchover' }),
      decides: demotes(0),
    },
    'without a switchover if it is alone': {
      given: cluster(1).members(
        member(0)
          .stale()
          .changeable(...agent),
      ),
      settings: settings({ primary: 'AfterSwitchover' }),
      decides: updates('ContainersRestart', 0, changeOf(...agent)),
    },
    'with the approval that an eviction needs': {
      given: lastOne('slow-log'),
      settings: settings({}, { primaryUpdatePolicy: 'Manual' }),
      decides: holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter }),
    },
    'in a window that has no room for a switchover': {
      given: lastOne('slow-log').maintenance([[-60, 150]]),
      settings: settings({ primary: 'InPlace' }),
      decides: updates('ContainersRestart', 0, changeOf('slow-log')),
    },
    'in no window that has no room for its update': {
      given: lastOne('slow-log').maintenance([[-60, 50]]),
      settings: settings({ primary: 'InPlace' }),
      decides: holds({
        rule: 'OutsideMaintenanceWindow',
        closesAt: 'T+50',
        neededSeconds: 100,
        opensAt: null,
      }),
    },
  });
});

describe('a resize that is under way when the template changes', () => {
  const cpu = [resourcesOf('mysqld')] as const;
  const others = () => cluster(3).members(member(2).stale().resizable(cpu));
  play({
    'gives way to another one, before any other member is resized': {
      given: others().members(member(1).stale().resizableAnew(cpu)),
      settings: ifPossible,
      decides: resizes('ResizeRestartsNothing', 1, ...cpu),
    },
    'keeps other members from theirs where its own member may not be next': {
      given: others().members(member(0).stale().resizableAnew(cpu)),
      settings: ifPossible,
      decides: holds({ rule: 'AwaitingResize', member: 0, containers: ['mysqld'], deferred: null, minReadySeconds: 5 }),
    },
    'keeps them for five minutes': {
      given: others().members(member(0).stale().resizableAnew(cpu, { forSeconds: 300 })),
      settings: ifPossible,
      decides: resizes('ResizeRestartsNothing', 2, ...cpu),
    },
    'is awaited also where updates in place have been turned off since, and its member is replaced afterwards': {
      given: cluster(3).members(member(2).stale().resizing({ forSeconds: 299 })),
      settings: settings({ mode: 'Never' }),
      decides: holds({ rule: 'AwaitingResize', member: 2, containers: ['mysqld'], deferred: null, minReadySeconds: 5 }),
      requeueAfterSeconds: 1,
    },
    'is no update once they are off: the member is replaced after five minutes': {
      given: cluster(3).members(member(2).stale().resizing({ forSeconds: 300 })),
      settings: settings({ mode: 'Never' }),
      decides: evicts('ReplicaHealthy', 2),
    },
  });

  it('names each container once in the plan', () => {
    const { inPlace } = member(1).stale().resizableAnew(cpu).facts(0, revisionAfter);
    expect(inPlace && explainInPlace(inPlace)).to.equal('in place, resize of mysqld, nothing restarts');
  });
});

const needsPod = () => cluster(3).members(member(2).stale().notChangeable('args differ'));

describe('the mode Only', () => {
  play({
    'keeps a replica that needs another pod': {
      given: cluster(3).members(member(2).stale().notChangeable('args differ')),
      settings: only,
      decides: holds({ rule: 'RestartNeeded', member: 2, reasons: ['args differ'], opensAt: null }),
    },
    'keeps the primary from a switchover': {
      given: cluster(3).members(member(0).stale().notChangeable('args differ')),
      settings: only,
      decides: holds({ rule: 'RestartNeeded', member: 0, reasons: ['args differ'], opensAt: null }),
    },
    'lets the primary switch over in order to be changed as a replica': {
      given: lastOne(...agent),
      settings: only,
      decides: demotes(0),
    },
    'is overridden for a while': {
      given: cluster(3).members(member(2).stale().notChangeable('args differ')),
      settings: { ...only, overrides: [{ rule: 'RestartNeeded', remainingSeconds: 60 }] },
      decides: evicts('ReplicaHealthy', 2),
      requeueAfterSeconds: 60,
    },
    'replaces a replica in a window for restarts that is long enough, within the maintenance windows': {
      given: needsPod().restartWindows([-60, 100]),
      settings: only,
      decides: evicts('ReplicaHealthy', 2),
    },
    'keeps a replica if the window is too short': {
      given: needsPod().restartWindows([-60, 99], [3600, 7200]),
      settings: only,
      decides: holds({ rule: 'RestartNeeded', member: 2, reasons: ['args differ'], opensAt: 'T+3600' }),
      requeueAfterSeconds: 3600,
    },
    'keeps a replica in a window for restarts outside of the maintenance windows': {
      given: needsPod()
        .maintenance([[3600, 7200]])
        .restartWindows([-60, 100]),
      settings: only,
      decides: holds({
        rule: 'OutsideMaintenanceWindow',
        closesAt: null,
        neededSeconds: 100,
        opensAt: 'T+3600',
      }),
      requeueAfterSeconds: 3600,
    },
    'keeps the primary if the window is too short for a switchover as well': {
      given: cluster(3).members(member(0).stale().notChangeable('args differ')).restartWindows([0, 189]),
      settings: only,
      decides: holds({ rule: 'RestartNeeded', member: 0, reasons: ['args differ'], opensAt: null }),
    },
    'lets the primary switch over in a window that is long enough for both': {
      given: cluster(3).members(member(0).stale().notChangeable('args differ')).restartWindows([0, 190]),
      settings: only,
      decides: demotes(0),
    },
    'replaces members that are down': {
      given: cluster(3).members(member(2).stale().notChangeable('args differ').down('CrashLoopBackOff')),
      settings: only,
      decides: { step: { kind: 'delete', rule: 'MemberDown', ordinals: [2] } },
    },
  });
});
