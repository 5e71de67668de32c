import { expect } from 'chai';
import { explainInPlace } from '../../src/core/in-place.ts';
import type { InPlaceSettings } from '../../src/core/in-place-changes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { backupRunning, cluster, three } from './cluster-builder.ts';
import { changeOf, member, resourcesOf, revisionAfter } from './member-builder.ts';
import { deletes, demotes, evicts, holds, play, resizes, tooYoung, updates, when } from './table.ts';

const settings = (inPlace: Partial<InPlaceSettings>, more: Partial<RolloutPolicy> = {}): Partial<RolloutPolicy> => ({
  ...more,
  inPlaceUpdates: { ...defaultPolicy.inPlaceUpdates, mode: 'IfPossible', ...inPlace },
});
const ifPossible = settings({});
const only = settings({ mode: 'Only' });

const changed = (ordinal: number, ...containers: readonly string[]) =>
  member(ordinal)
    .stale()
    .changeable(...containers);
/** Every member can be changed, with a restart of these containers. */
const changeable = (...containers: readonly string[]) =>
  three(...[0, 1, 2].map((ordinal) => changed(ordinal, ...containers)));
const lastOne = (...containers: readonly string[]) => three(changed(0, ...containers));

describe('an update that restarts nothing', () => {
  play({
    'is done member by member from the top, the primary included': when(
      three(changed(0), changed(1)),
      updates('NothingRestarts', 1, changeOf()),
      ifPossible,
    ),
    'is done to the primary without approval: clients do not notice it': when(
      lastOne(),
      updates('NothingRestarts', 0, changeOf()),
      settings({}, { primaryUpdatePolicy: 'Manual' }),
    ),
    'waits neither for other clusters nor for a window': when(
      changeable()
        .queued(1, 2)
        .maintenance([[60, 120]]),
      updates('NothingRestarts', 2, changeOf()),
      ifPossible,
    ),
    'waits for no missing member': when(
      three(changed(1), member(2).lagging()),
      updates('NothingRestarts', 1, changeOf()),
      ifPossible,
    ),
    'is not done to a member that is down: it is replaced': when(
      three(changed(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
      ifPossible,
    ),
    'is not done while the rollout is paused': when(
      changeable(),
      holds({ rule: 'Paused' }),
      settings({}, { paused: true }),
    ),
    'is not done to a pinned member': when(
      three(changed(1)),
      holds({ rule: 'PartitionReached', partition: 0, members: [], pinned: [1] }),
      settings({}, { pinnedOrdinals: [1] }),
    ),
    'is not done in the mode Never': when(changeable(), evicts('ReplicaHealthy', 2), settings({ mode: 'Never' })),
  });
});

describe('containers restart in place', () => {
  play({
    'in replicas first, from the top': when(
      changeable('slow-log'),
      updates('ContainersRestart', 2, changeOf('slow-log')),
      ifPossible,
    ),
    'through the gates of an eviction: a backup': when(
      changeable('slow-log').backupJobs({}),
      holds(backupRunning),
      ifPossible,
    ),
    'through the gates of an eviction: other clusters': when(
      changeable('slow-log').queued(1, 2),
      holds({ rule: 'AwaitingFleetSlot', place: 1, limit: 2, stuck: [] }),
      ifPossible,
    ),
    'through the gates of an eviction: a protected member': when(
      three(changed(2, 'agent').preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
      ifPossible,
    ),
    'in one member at a time, whatever the budget': when(
      cluster(5).members(changed(3, 'agent'), member(4).restartsInPlace('agent')),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 4, wait: { for: 'containers', containers: ['agent'] } }),
      settings({}, { maxUnavailable: 2 }),
    ),
    'in no member while another one is away, whatever the budget': when(
      cluster(5).members(changed(3, 'agent'), member(4).participatingFor(0)),
      holds({ rule: 'MaxUnavailableReached', unavailable: [4], maxUnavailable: 1 }),
      settings({}, { maxUnavailable: 2, minReadySeconds: 60 }),
    ),
    'and the next member waits until the last has participated with them for minReadySeconds': when(
      three(changed(1, 'slow-log'), member(2).restartedInPlace('slow-log', 4)),
      tooYoung(2, 5),
      ifPossible,
      1,
    ),
    'and the next member waits until the last has had the revision for minReadySeconds, however long it has participated':
      when(three(changed(1, 'slow-log'), member(2).relabelledFor(4)), tooYoung(2, 5), ifPossible, 1),
    'and the next member goes then': when(
      three(changed(1, 'slow-log'), member(2).restartedInPlace('slow-log', 5)),
      updates('ContainersRestart', 1, changeOf('slow-log')),
      ifPossible,
    ),
    'and the restart that was asked for is no crash': when(
      three(
        member(1).stale(),
        member(2)
          .restartsInPlace('agent')
          .container('agent', { restarts: 1, ready: false, readySinceRestart: false })
          .but({ ready: false }),
      ),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 2, wait: { for: 'containers', containers: ['agent'] } }),
      ifPossible,
    ),
    'and another one is': when(
      three(
        member(0).stale(),
        member(1).stale(),
        member(2)
          .restartsInPlace('slow-log')
          .container('slow-log', { restarts: 2, ready: false, readySinceRestart: false })
          .but({ ready: false }),
      ),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'crashLooping', container: 'slow-log', restarts: 2 },
      }),
      ifPossible,
    ),
    'and an image that cannot be pulled stops the rollout, although mysqld keeps running': when(
      three(
        member(0).stale(),
        member(1).stale(),
        member(2)
          .restartsInPlace('slow-log')
          .container('slow-log', { state: 'waiting', reason: 'ImagePullBackOff', ready: false })
          .but({ ready: false }),
      ),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'waiting', container: 'slow-log', reason: 'ImagePullBackOff', restarts: 0 },
      }),
      ifPossible,
    ),
    'in no member whose earlier update in place is not done': when(
      three(changed(2, 'slow-log').restartsInPlace('slow-log')),
      evicts('ReplicaHealthy', 2),
      ifPossible,
    ),
    'in no member without its role': when(
      three(changed(2, 'slow-log').participatingFor(10).role(null)),
      holds({ rule: 'RolesNotSettled', members: [2] }),
      ifPossible,
    ),
  });
});

describe('the primary is updated in place', () => {
  play({
    'after a switchover, whatever restarts: its pod is not ready meanwhile, and its Service has no endpoint': when(
      lastOne('slow-log'),
      demotes(0),
      ifPossible,
    ),
    'without a switchover if the user requests that': when(
      lastOne('agent'),
      updates('ContainersRestart', 0, changeOf('agent')),
      settings({ primary: 'InPlace' }),
    ),
    'without a switchover if it is alone': when(
      cluster(1).members(changed(0, 'agent')),
      updates('ContainersRestart', 0, changeOf('agent')),
      settings({ primary: 'AfterSwitchover' }),
    ),
    'with the approval that an eviction needs': when(
      lastOne('slow-log'),
      holds({ rule: 'AwaitingApproval', member: 0, revision: revisionAfter }),
      settings({}, { primaryUpdatePolicy: 'Manual' }),
    ),
    'in a window that has no room for a switchover': when(
      lastOne('slow-log').maintenance([[-60, 150]]),
      updates('ContainersRestart', 0, changeOf('slow-log')),
      settings({ primary: 'InPlace' }),
    ),
    'in no window that has no room for its update': when(
      lastOne('slow-log').maintenance([[-60, 50]]),
      holds({ rule: 'OutsideMaintenanceWindow', closesAt: 'T+50', neededSeconds: 100, opensAt: null }),
      settings({ primary: 'InPlace' }),
    ),
  });
});

describe('a resize that is under way when the template changes', () => {
  const cpu = [resourcesOf('mysqld')] as const;
  const others = () => three(member(2).stale().resizable(cpu));
  play({
    'gives way to another one, before any other member is resized': when(
      others().members(member(1).stale().resizableAnew(cpu)),
      resizes('ResizeRestartsNothing', 1, ...cpu),
      ifPossible,
    ),
    'keeps other members from theirs where its own member may not be next': when(
      others().members(member(0).stale().resizableAnew(cpu)),
      holds({ rule: 'AwaitingResize', member: 0, containers: ['mysqld'], deferred: null, minReadySeconds: 5 }),
      ifPossible,
    ),
    'keeps them for five minutes': when(
      others().members(member(0).stale().resizableAnew(cpu, { forSeconds: 300 })),
      resizes('ResizeRestartsNothing', 2, ...cpu),
      ifPossible,
    ),
    'is awaited also where updates in place have been turned off since, and its member is replaced afterwards': when(
      three(member(2).stale().resizing({ forSeconds: 299 })),
      holds({ rule: 'AwaitingResize', member: 2, containers: ['mysqld'], deferred: null, minReadySeconds: 5 }),
      settings({ mode: 'Never' }),
      1,
    ),
    'is no update once they are off: the member is replaced after five minutes': when(
      three(member(2).stale().resizing({ forSeconds: 300 })),
      evicts('ReplicaHealthy', 2),
      settings({ mode: 'Never' }),
    ),
  });

  it('names each container once in the plan', () => {
    const { inPlace } = member(1).stale().resizableAnew(cpu).facts(0, revisionAfter);
    expect(inPlace && explainInPlace(inPlace)).to.equal('in place, resize of mysqld, nothing restarts');
  });
});

const needsPod = () => three(member(2).stale().notChangeable('args differ'));

describe('the mode Only', () => {
  play({
    'says why the kubelet has not resized a member': when(
      three(member(2).stale().resizing({ forSeconds: 300, deferred: 'no room.' })),
      holds({
        rule: 'RestartNeeded',
        member: 2,
        reasons: ['the kubelet has not resized mysqld and is deferring the resize (no room)'],
        opensAt: null,
      }),
      only,
    ),
    'keeps the primary from a switchover': when(
      three(member(0).stale().notChangeable('args differ')),
      holds({ rule: 'RestartNeeded', member: 0, reasons: ['args differ'], opensAt: null }),
      only,
    ),
    'lets the primary switch over in order to be changed as a replica': when(lastOne('agent'), demotes(0), only),
    'is overridden for a while': when(
      three(member(2).stale().notChangeable('args differ')),
      evicts('ReplicaHealthy', 2),
      { ...only, overrides: [{ rule: 'RestartNeeded', remainingSeconds: 60 }] },
      60,
    ),
    'replaces a replica in a window for restarts that is long enough, within the maintenance windows': when(
      needsPod().restartWindows([-60, 100]),
      evicts('ReplicaHealthy', 2),
      only,
    ),
    'keeps a replica if the window is too short': when(
      needsPod().restartWindows([-60, 99], [3600, 7200]),
      holds({ rule: 'RestartNeeded', member: 2, reasons: ['args differ'], opensAt: 'T+3600' }),
      only,
      3600,
    ),
    'keeps a replica in a window for restarts outside of the maintenance windows': when(
      needsPod()
        .maintenance([[3600, 7200]])
        .restartWindows([-60, 100]),
      holds({ rule: 'OutsideMaintenanceWindow', closesAt: null, neededSeconds: 100, opensAt: 'T+3600' }),
      only,
      3600,
    ),
    'keeps the primary if the window is too short for a switchover as well': when(
      three(member(0).stale().notChangeable('args differ')).restartWindows([0, 189]),
      holds({ rule: 'RestartNeeded', member: 0, reasons: ['args differ'], opensAt: null }),
      only,
    ),
    'lets the primary switch over in a window that is long enough for both': when(
      three(member(0).stale().notChangeable('args differ')).restartWindows([0, 190]),
      demotes(0),
      only,
    ),
  });
});
