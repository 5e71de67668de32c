import { cluster, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, demotes, evicts, handsBack, holds, play, takesBack, when } from './table.ts';

/** The index has moved to 1; MOCO has not yet set the roles. */
const moving = (demotedForSeconds: number) =>
  cluster(3)
    .primaryAt(1)
    .members(member(0).stale().demotedByUs(demotedForSeconds).role('primary'), member(1).role('replica'));

describe('a demotion after the primary index has moved', () => {
  play({
    'the demotion is left to MOCO while it sets the roles': when(
      moving(10),
      holds({ rule: 'RolesNotSettled', members: [0, 1] }),
      {},
      80,
    ),
    'the demotion stays until MOCO lets writes in': when(
      cluster(3)
        .primaryAt(1)
        .members(member(0).stale().demotedByUs(10))
        .mysqlCluster({ available: false, primarySettledForSeconds: 7 }),
      holds({ rule: 'RolesNotSettled', members: [1], unavailable: true }),
      {},
      80,
    ),
    'it is cancelled if MOCO has finished and left it': when(
      cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(10)),
      takesBack(0, 'NoLongerPrimary'),
    ),
    'it is cancelled if MOCO does not finish in time': when(moving(90), takesBack(0, 'NoLongerPrimary')),
    'it is cancelled under a hold': when(moving(10), takesBack(0, 'NoLongerPrimary'), { paused: true }),
    'the mark waits with its pod while MOCO still sets the roles': when(
      cluster(3).primaryAt(1).members(member(0).stale().markAlone().role('primary'), member(1).role('replica')),
      holds({ rule: 'RolesNotSettled', members: [0, 1] }),
    ),
    'the mark is removed under a hold': when(
      cluster(3).primaryAt(1).members(member(0).stale().markAlone()),
      takesBack(0, 'MarkWithoutDemote'),
      { paused: true },
    ),
    'the annotation is removed from a member that is not due': when(
      cluster(3).primaryAt(1).members(member(0).markAlone()),
      takesBack(0, 'MarkWithoutDemote'),
    ),
    'the annotation stays on a pod that is or seems to be primary again, and the pod is demoted again': when(
      three(member(0).stale().markAlone()),
      demotes(0),
    ),
    'the mark of another revision is removed': when(
      cluster(3).primaryAt(1).members(member(0).stale().markAlone('another')),
      takesBack(0, 'MarkWithoutDemote'),
    ),
    'the annotation is removed if partitions are lowered': when(
      cluster(3).atPartition(1).primaryAt(1).members(member(0).stale().markAlone()),
      takesBack(0, 'MarkWithoutDemote'),
      { mode: 'Partition' },
    ),
    'then the old primary is an ordinary replica': when(
      cluster(3).primaryAt(1).members(member(0).stale()),
      evicts('ReplicaHealthy', 0),
    ),
  });
});

describe('a demotion that is under way', () => {
  play({
    'does not keep the primary from being replaced when it goes down': when(
      three(member(0).stale().demotedByUs(10).down('CrashLoopBackOff')),
      deletes('MemberDown', 0),
    ),
    'disappears with a terminating pod': when(
      cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(1000).terminating()),
      holds({ rule: 'MemberTerminating', member: 0 }),
    ),
    'is cancelled on an updated member': when(
      three(member(0).updated().demotedByUs(1), member(1).stale()),
      takesBack(0, 'NotDue'),
    ),
    'is cancelled on one member at a time, the lowest ordinal first': when(
      three(member(1).demotedByUs(1), member(2).demotedByUs(1)),
      takesBack(1, 'NoLongerPrimary'),
    ),
    'is cancelled in a cluster of one too': when(
      cluster(1).members(member(0).updated().demotedByUs(1)),
      takesBack(0, 'NotDue'),
    ),
    'that this controller did not set is never cancelled': when(
      three(member(0).stale().demotedBySomebody(9999)),
      handsBack,
      { mode: 'MOCO' },
    ),
  });
});

describe('a demotion while Kubernetes or MOCO is about to catch up', () => {
  const demoted = () => three(member(0).stale().demotedByUs(30));
  play({
    'continues while a re-created StatefulSet has no revision yet': when(
      demoted().statefulSet({ observed: false, updateRevision: '' }),
      holds({ rule: 'StatefulSetNotObserved' }),
      {},
      60,
    ),
    'is cancelled once Kubernetes has observed another template': when(
      three(member(0).stale().demotedByUs(30, 'the one before')),
      takesBack(0, 'NotDue'),
    ),
    'is cancelled if the StatefulSet controller cannot create a missing member, which blocks MOCO': when(
      demoted().missing(2).but({ createFailure: 'exceeded quota: pods' }),
      takesBack(0, 'MemberMissing'),
    ),
    'continues while the StatefulSet has no update revision': when(
      demoted().statefulSet({ updateRevision: '' }),
      holds({ rule: 'StatefulSetNotObserved' }),
      {},
      60,
    ),
    'loses only its mark if nothing else is left': when(
      three(member(0).stale().markAlone()),
      takesBack(0, 'MarkWithoutDemote'),
      { mode: 'MOCO' },
    ),
    'keeps its mark while the wanted revision is unknown': when(
      cluster(3).primaryAt(1).members(member(0).stale().markAlone()).statefulSet({ observed: false }),
      holds({ rule: 'StatefulSetNotObserved' }),
    ),
    'is left to MOCO that finishes the switchover, though a new template is not reconciled yet': when(
      moving(10).mysqlCluster({ generation: 9 }),
      holds({ rule: 'NotReconciled', generation: 9, succeeded: 2 }),
      {},
      80,
    ),
  });
});

describe('a switchover that this controller did not request', () => {
  play({
    'is waited for': when(
      stale().members(member(0).demotedBySomebody(80)),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      {},
      10,
    ),
    'that moves nothing in its time keeps healthy members': when(
      stale().members(member(0).demotedBySomebody(90)),
      holds({ rule: 'ForeignDemote', member: 0 }),
    ),
    'that times out does not prevent the update of a running member': when(
      stale().members(member(0).demotedBySomebody(90), member(2).lagging()),
      deletes('MemberNotParticipating', 2),
    ),
    'that times out does not prevent the update of an impaired member': when(
      stale().members(member(0).demotedBySomebody(90), member(2).impaired('slow-log')),
      deletes('MemberImpaired', 2),
    ),
    'keeps nothing when nothing is due': when(three(member(0).demotedBySomebody(1)), 'idle'),
  });
});

const withoutRole = holds({ rule: 'RolesNotSettled', members: [1] });

describe('a member without a role from MOCO', () => {
  play({
    'has the time of a failover to get one': when(stale().members(member(1).unlabelled(179)), withoutRole, {}, 1),
    'is passed over by MOCO after that, and waited for no more': when(
      stale().members(member(1).unlabelled(180)),
      evicts('ReplicaHealthy', 2),
    ),
    'is settled then if it is updated, so that the primary’s switchover can trigger MOCO': when(
      three(member(0).stale(), member(1).unlabelled(180)),
      demotes(0),
    ),
    'is waited for if nothing else is due': when(
      cluster(3).statefulSet({ currentRevision: 'before' }).members(member(1).unlabelled(179)),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 1, wait: { for: 'role' } }),
      {},
      1,
    ),
    'always makes the rollout wait as primary: MOCO labels it before it lets writes in': when(
      stale().members(member(0).unlabelled(3600)),
      holds({ rule: 'RolesNotSettled', members: [0] }),
    ),
    'makes the rollout wait when the index has moved to it and Healthy is from before that': when(
      stale().primaryAt(1).members(member(0).terminating(), member(1).unlabelled(3600)),
      withoutRole,
    ),
    'makes the rollout wait for failoverGraceSeconds': when(
      stale().members(member(1).unlabelled(180)),
      withoutRole,
      { failoverGraceSeconds: 300 },
      120,
    ),
    'is waited for while MOCO does not call the cluster Healthy: it has something to put right': when(
      stale().members(member(1).unlabelled(3600)).mysqlCluster({ healthy: false, mocoState: 'Incomplete' }),
      withoutRole,
    ),
    'is left to a person once MOCO has called the cluster Degraded for failoverGraceSeconds: it may hang': when(
      stale().members(member(1).unlabelled(180)).mysqlCluster({ healthy: false, mocoState: 'Degraded' }),
      holds({ rule: 'RolesNotSettled', members: [1], ignored: true }),
    ),
    'is waited for before that': when(
      stale().members(member(1).unlabelled(179)).mysqlCluster({ healthy: false, mocoState: 'Degraded' }),
      withoutRole,
      {},
      1,
    ),
    'is waited for while not all are in sync': when(
      stale().members(member(1).unlabelled(3600)).mysqlCluster({ syncedReplicas: 2 }),
      withoutRole,
    ),
    'makes the rollout wait if the time of its participation is unknown': when(
      stale().members(member(1).unlabelled().but({ participatingForSeconds: null })),
      withoutRole,
    ),
    'differs from a member with the wrong role, which is always waited for': when(
      stale().members(member(1).unlabelled(3600).role('primary')),
      withoutRole,
    ),
  });
});

describe('the mark of a finished demotion for another revision', () => {
  const marked = () => cluster(3).primaryAt(1).members(member(0).stale().markAlone('another'));
  play({
    'stays until Kubernetes has observed the newest revision': when(
      marked().statefulSet({ observed: false }),
      holds({ rule: 'StatefulSetNotObserved' }),
    ),
    'stays while the StatefulSet is re-created': when(
      marked().statefulSet({ deleting: true }),
      holds({ rule: 'StatefulSetDeleting' }),
    ),
  });
});
