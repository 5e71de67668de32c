import { backupRunning, cluster, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, evicts, holds, notYet, play, promotes, when } from './table.ts';

describe('a rollout of three', () => {
  play({
    'replaces ten before nine: ordinals are numbers': when(stale(11), evicts('ReplicaHealthy', 10)),
    'waits for the new member to participate': when(
      stale().members(member(2).updated().starting()),
      notYet(2, 'running'),
    ),
    'waits until MOCO has set its role, since Healthy may be left from before it': when(
      stale().members(member(2).updated().unlabelled()).healthyAsBefore(),
      holds({ rule: 'RolesNotSettled', members: [2] }),
    ),
    'continues at once with minReadySeconds 0': when(
      stale().members(member(2).updated().participatingFor(0)),
      evicts('ReplicaHealthy', 1),
      { minReadySeconds: 0 },
    ),
    'waits for it': when(
      three(member(0).stale().demotedByUs(1)),
      holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 }),
      {},
      89,
    ),
    'waits for the roles while Healthy is still True after the index has moved': when(
      cluster(3).primaryAt(1).members(member(0).stale().role('primary'), member(1).role('replica')).healthyAsBefore(),
      holds({ rule: 'RolesNotSettled', members: [0, 1] }),
    ),
    'waits until the new primary accepts writes': when(
      cluster(3)
        .primaryAt(1)
        .members(member(0).stale())
        .mysqlCluster({ available: false, primarySettledForSeconds: 4 }),
      holds({ rule: 'RolesNotSettled', members: [1], unavailable: true }),
      { minReadySeconds: 0 },
      176,
    ),
    'does not wait forever for a cluster that is not available': when(
      cluster(3)
        .primaryAt(1)
        .members(member(0).stale())
        .mysqlCluster({ available: false, healthy: false, primarySettledForSeconds: 180 }),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    ),
    'evicts the old primary as an ordinary replica, however young the new primary is as such': when(
      cluster(3).primaryAt(1).members(member(0).stale()).mysqlCluster({ primarySettledForSeconds: 0 }),
      evicts('ReplicaHealthy', 0),
    ),
    'ends by promoting the revision': when(cluster(3).statefulSet({ currentRevision: 'old' }), promotes(3)),
    'has nothing to do afterwards': when(cluster(3), 'idle', {}, null),
    'starts again with a second template, whichever members were updated before': when(
      stale().members(member(2).but({ revision: 'in-between' })),
      evicts('ReplicaHealthy', 2),
    ),
    'leaves members alone that are at the update revision already': when(
      stale().members(member(2).updated(), member(1).updated()).primaryAt(2),
      evicts('ReplicaHealthy', 0),
    ),
  });
});

describe('a rollout of five and of one', () => {
  const five = () => stale(5);
  play({
    'five with three members behind: the last one first': when(
      five().members(member(2).lagging(), member(3).lagging(), member(4).lagging(180)),
      deletes('MemberNotParticipating', 4),
    ),
    'five with three members behind, none of them for long: two may not acknowledge': when(
      five().members(member(2).lagging(), member(3).lagging(), member(4).lagging()),
      holds({ rule: 'NotEnoughAcknowledging', member: 4, others: 2, needed: 3 }),
    ),
    'five with two out of reach and two behind would lose the quorum': when(
      five().members(member(1).unreachable(), member(2).unreachable(), member(3).lagging(), member(4).lagging(180)),
      holds({ rule: 'NotEnoughAcknowledging', member: 4, others: 2, needed: 3 }),
    ),
    'five replace the one that acknowledges nothing before those that are needed': when(
      five().members(member(1).unreachable(), member(2).crashLooping(), member(3).lagging(), member(4).lagging()),
      deletes('MemberNotParticipating', 2),
    ),
    'one is not evicted while MOCO does not call it healthy': when(
      stale(1).unhealthy(),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 1, replicas: 1 }),
    ),
    'three are not evicted while a backup of theirs is active for which MOCO closes no budget': when(
      stale().backupJobs({ activeForSeconds: 6 * 3600 - 60 }),
      holds(backupRunning),
      {},
      60,
    ),
    'three are not evicted while they are restored, whatever MOCO says': when(
      stale().backupJobs({ name: 'moco-restore-test', restores: true }),
      holds({ ...backupRunning, job: 'moco-restore-test', restores: true }),
    ),
    'the Job that has run for the longest time is named, and that it does not end': when(
      stale().backupJobs({ name: 'scheduled' }, { activeForSeconds: 6 * 3600 }),
      holds({ ...backupRunning, overdueHours: 6 }),
    ),
    'a Job is named rather than the budget that MOCO has closed for it': when(
      stale().backupJobs({}).budgets({ closed: true }),
      holds(backupRunning),
    ),
    'one that is down is replaced, backup or not': when(
      stale()
        .members(member(2).down('CrashLoopBackOff'))
        .backupJobs({})
        .but({ backupsUnreadable: 'jobs is forbidden' }),
      deletes('MemberDown', 2),
    ),
    'one that is down goes by delete': when(
      stale(1).members(member(0).down('ImagePullBackOff')),
      deletes('MemberDown', 0),
    ),
    'one that is impaired goes by delete': when(
      stale(1).members(member(0).impaired('slow-log')),
      deletes('MemberImpaired', 0),
    ),
    'one that is unreachable is shown': when(
      stale(1).members(member(0).unreachable()),
      holds({ rule: 'MemberUnreachable', member: 0 }),
    ),
    'one that is terminating is waited for': when(
      stale(1).members(member(0).terminating()),
      holds({ rule: 'MemberTerminating', member: 0 }),
    ),
    'one that has come back is waited for': when(cluster(1).members(member(0).starting()), notYet(0, 'running')),
    'one that is protected is not touched though it runs without participating': when(
      stale(1).members(member(0).agentDead().preventDelete()).primaryUnavailableFor(1000),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
  });
});

describe('the scenarios of etcd-druid’s proposal DEP-06', () => {
  play({
    '1: a stale member that is down at the start goes first, by delete': when(
      stale().members(member(1).down('CrashLoopBackOff')),
      deletes('MemberDown', 1),
    ),
    '1: however busy the budget is and whatever MOCO says': when(
      stale().members(member(0).down('CrashLoopBackOff')).unhealthy().budgets({ closed: true, disruptionsAllowed: 0 }),
      deletes('MemberDown', 0),
    ),
    '2: a second one that fails mid-way goes before the healthy ones': when(
      stale().members(member(2).updated().participatingFor(1), member(1).down('CrashLoopBackOff')),
      deletes('MemberDown', 1),
    ),
    '2: it goes while the one before it is still starting': when(
      stale().members(member(2).updated().starting(), member(1).down('ImagePullBackOff')),
      deletes('MemberDown', 1),
    ),
    '3: all are down and all are replaced at once': when(
      stale().members(member(0).down('CrashLoopBackOff'), member(1).down('ImagePullBackOff'), member(2).creating(61)),
      deletes('MemberDown', 2, 1, 0),
    ),
    '3: members that the partition keeps back are not': when(
      stale().members(member(0).down('ErrImagePull'), member(1).down('ErrImagePull'), member(2).down('ErrImagePull')),
      deletes('MemberDown', 2, 1),
      { partition: 1 },
    ),
  });
});

describe('a bad image', () => {
  const failing = (ordinal: number, evidence: object) =>
    ({ rule: 'UpdateRevisionFailing', member: ordinal, evidence }) as Parameters<typeof holds>[0];
  const pulling = { kind: 'waiting', container: 'mysqld', reason: 'ImagePullBackOff', restarts: 0 };
  play({
    'halts the rollout': when(
      stale().members(member(2).updated().down('ImagePullBackOff')),
      holds(failing(2, pulling)),
    ),
    'halts it even for a member that is down, which may come back with the old one': when(
      stale().members(member(2).updated().down('ImagePullBackOff'), member(1).down('CrashLoopBackOff')),
      holds(failing(2, pulling)),
    ),
    'once corrected, the broken one goes first': when(
      stale().members(member(2).but({ revision: 'bad' }).down('ImagePullBackOff')),
      deletes('MemberDown', 2),
    ),
    'reverted to the previous one, only the broken one is replaced': when(
      three(member(2).but({ revision: 'bad' }).down('ImagePullBackOff')),
      deletes('MemberDown', 2),
    ),
    'in the first image of a cluster is cured while it was never initialized and not reconciled': when(
      stale()
        .members(member(0).down('ErrImagePull'), member(1).down('ErrImagePull'), member(2).down('ErrImagePull'))
        .mysqlCluster({ initialized: false, succeededGeneration: null }),
      deletes('MemberDown', 2, 1, 0),
    ),
  });
});

describe('a sidecar', () => {
  play({
    'that restarts for a second costs no member': when(
      three(
        member(2)
          .container('slow-log', { state: 'terminated', reason: 'Error', ready: false, notReadyForSeconds: 1 })
          .but({ ready: false }),
      ),
      'idle',
      {},
      59,
    ),
    'that restarts for a second in the middle of a rollout costs nothing but the wait for the budget': when(
      stale().members(
        member(2)
          .container('slow-log', { state: 'terminated', reason: 'Error', ready: false, notReadyForSeconds: 1 })
          .but({ ready: false }),
      ),
      holds({ rule: 'BlockedByPDB', budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null }),
      {},
      59,
    ),
  });
});
