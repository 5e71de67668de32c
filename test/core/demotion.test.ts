import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, demotes, evicts, handsBack, holds, play, takesBack } from './table.ts';

/** The index has moved to 1; MOCO has not yet set the roles. */
const moving = (demotedForSeconds: number) =>
  cluster(3)
    .primaryAt(1)
    .members(member(0).stale().demotedByUs(demotedForSeconds).role('primary'), member(1).role('replica'));

describe('a demotion after the primary index has moved', () => {
  play({
    'the demotion is left to MOCO while it sets the roles': {
      given: moving(10),
      decides: holds({ rule: 'RolesNotSettled', members: [0, 1] }),
      requeueAfterSeconds: 80,
    },
    'the demotion stays until MOCO lets writes in': {
      given: cluster(3)
        .primaryAt(1)
        .members(member(0).stale().demotedByUs(10))
        .mysqlCluster({ available: false, primarySettledForSeconds: 7 }),
      decides: holds({ rule: 'RolesNotSettled', members: [1], unavailable: true }),
      requeueAfterSeconds: 80,
    },
    'it is cancelled if MOCO has finished and left it': {
      given: cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(10)),
      decides: takesBack(0, 'NoLongerPrimary'),
    },
    'it is cancelled if MOCO does not finish in time': {
      given: moving(90),
      decides: takesBack(0, 'NoLongerPrimary'),
    },
    'it is cancelled under a hold': {
      given: moving(10),
      settings: { paused: true },
      decides: takesBack(0, 'NoLongerPrimary'),
    },
    'the annotation that MOCO leaves disappears with its pod, which is next': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone()),
      decides: evicts('ReplicaHealthy', 0),
    },
    'the mark waits with its pod while MOCO still sets the roles': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone().role('primary'), member(1).role('replica')),
      decides: holds({ rule: 'RolesNotSettled', members: [0, 1] }),
    },
    'the mark is removed under a hold': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone()),
      settings: { paused: true },
      decides: takesBack(0, 'MarkWithoutDemote'),
    },
    'the mark is removed when another member is due': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone(), member(2).stale()),
      decides: takesBack(0, 'MarkWithoutDemote'),
    },
    'the annotation is removed from a member that is not due': {
      given: cluster(3).primaryAt(1).members(member(0).markAlone()),
      decides: takesBack(0, 'MarkWithoutDemote'),
    },
    'the annotation stays on a pod that is or seems to be primary again, and the pod is demoted again': {
      given: cluster(3).members(member(0).stale().markAlone()),
      decides: demotes(0),
    },
    'the mark of another revision is removed': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone('another')),
      decides: takesBack(0, 'MarkWithoutDemote'),
    },
    'the annotation is removed if partitions are lowered': {
      given: cluster(3).atPartition(1).primaryAt(1).members(member(0).stale().markAlone()),
      settings: { mode: 'Partition' },
      decides: takesBack(0, 'MarkWithoutDemote'),
    },
    'then the old primary is an ordinary replica': {
      given: cluster(3).primaryAt(1).members(member(0).stale()),
      decides: evicts('ReplicaHealthy', 0),
    },
  });
});

describe('a demotion that is under way', () => {
  play({
    'does not keep the primary from being replaced when it goes down': {
      given: cluster(3).members(member(0).stale().demotedByUs(10).down('CrashLoopBackOff')),
      decides: deletes('MemberDown', 0),
    },
    'disappears with a terminating pod': {
      given: cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(1000).terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 0 }),
    },
    'is cancelled on an updated member': {
      given: cluster(3).members(member(0).updated().demotedByUs(1), member(1).stale()),
      decides: takesBack(0, 'NotDue'),
    },
    'is cancelled on one member at a time, the lowest ordinal first': {
      given: cluster(3).members(member(1).demotedByUs(1), member(2).demotedByUs(1)),
      decides: takesBack(1, 'NoLongerPrimary'),
    },
    'is cancelled in a cluster of one too': {
      given: cluster(1).members(member(0).updated().demotedByUs(1)),
      decides: takesBack(0, 'NotDue'),
    },
    'that this controller did not set is never cancelled': {
      given: cluster(3).members(member(0).stale().demotedBySomebody(9999)),
      settings: { mode: 'MOCO' },
      decides: handsBack,
    },
  });
});

describe('a demotion while Kubernetes or MOCO is about to catch up', () => {
  const demoted = () => cluster(3).members(member(0).stale().demotedByUs(30));
  play({
    'continues while a re-created StatefulSet has no revision yet': {
      given: demoted().statefulSet({ observed: false, updateRevision: '' }),
      decides: holds({ rule: 'StatefulSetNotObserved' }),
      requeueAfterSeconds: 60,
    },
    'is cancelled once Kubernetes has observed another template': {
      given: cluster(3).members(member(0).stale().demotedByUs(30, 'the one before')),
      decides: takesBack(0, 'NotDue'),
    },
    'is cancelled if the StatefulSet controller cannot create a missing member, which blocks MOCO': {
      given: demoted().missing(2).createFailure('exceeded quota: pods'),
      decides: takesBack(0, 'MemberMissing'),
    },
    'keeps its mark while the wanted revision is unknown': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone()).statefulSet({ observed: false }),
      decides: holds({ rule: 'StatefulSetNotObserved' }),
    },
    'is left to MOCO that finishes the switchover, though a new template is not reconciled yet': {
      given: moving(10).mysqlCluster({ generation: 9 }),
      decides: holds({ rule: 'NotReconciled', generation: 9, succeeded: 2 }),
      requeueAfterSeconds: 80,
    },
  });
});

describe('a switchover that this controller did not request', () => {
  play({
    'is waited for': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(80)),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      requeueAfterSeconds: 10,
    },
    'that moves nothing in its time keeps healthy members': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(90)),
      decides: holds({ rule: 'ForeignDemote', member: 0 }),
    },
    'that times out does not prevent the update of a running member': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(90), member(2).lagging()),
      decides: deletes('MemberNotParticipating', 2),
    },
    'that times out does not prevent the update of an impaired member': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(90), member(2).impaired('slow-log')),
      decides: deletes('MemberImpaired', 2),
    },
    'keeps nothing when nothing is due': {
      given: cluster(3).members(member(0).demotedBySomebody(1)),
      decides: 'idle',
    },
  });
});

const stale = () => cluster(3).templateChanged();
const withoutRole = holds({ rule: 'RolesNotSettled', members: [1] });

describe('a member without a role from MOCO', () => {
  play({
    'has the time of a failover to get one': {
      given: stale().members(member(1).unlabelled(179)),
      decides: withoutRole,
      requeueAfterSeconds: 1,
    },
    'is passed over by MOCO after that, and waited for no more': {
      given: stale().members(member(1).unlabelled(180)),
      decides: evicts('ReplicaHealthy', 2),
    },
    'is settled then if it is updated, so that the primary’s switchover can trigger MOCO': {
      given: cluster(3).members(member(0).stale(), member(1).unlabelled(180)),
      decides: demotes(0),
    },
    'is waited for if nothing else is due': {
      given: cluster(3).statefulSet({ currentRevision: 'before' }).members(member(1).unlabelled(179)),
      decides: holds({ rule: 'UpdatedMemberNotParticipating', member: 1, wait: { for: 'role' } }),
      requeueAfterSeconds: 1,
    },
    'always makes the rollout wait as primary: MOCO labels it before it lets writes in': {
      given: stale().members(member(0).unlabelled(3600)),
      decides: holds({ rule: 'RolesNotSettled', members: [0] }),
    },
    'makes the rollout wait when the index has moved to it and Healthy is from before that': {
      given: stale().primaryAt(1).members(member(0).terminating(), member(1).unlabelled(3600)),
      decides: withoutRole,
    },
    'makes the rollout wait for failoverGraceSeconds': {
      given: stale().members(member(1).unlabelled(180)),
      settings: { failoverGraceSeconds: 300 },
      decides: withoutRole,
      requeueAfterSeconds: 120,
    },
    'is waited for while MOCO does not call the cluster Healthy: it has something to put right': {
      given: stale().members(member(1).unlabelled(3600)).mysqlCluster({ healthy: false }),
      decides: withoutRole,
    },
    'is waited for while not all are in sync': {
      given: stale().members(member(1).unlabelled(3600)).mysqlCluster({ syncedReplicas: 2 }),
      decides: withoutRole,
    },
    'makes the rollout wait if the time of its participation is unknown': {
      given: stale().members(member(1).unlabelled().but({ participatingForSeconds: null })),
      decides: withoutRole,
    },
    'differs from a member with the wrong role, which is always waited for': {
      given: stale().members(member(1).unlabelled(3600).role('primary')),
      decides: withoutRole,
    },
  });
});
