import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, demotes, evicts, handsBack, holds, play, takesBack } from './table.ts';

/** The index has moved to 1; MOCO has not yet set the roles. */
const moving = (demotedForSeconds: number) =>
  cluster(3)
    .primaryAt(1)
    .members(member(0).stale().demotedByUs(demotedForSeconds).role('primary'), member(1).role('replica'));

describe('after the index has moved', () => {
  play({
    'the demotion is left to MOCO while it sets the roles': {
      given: moving(10),
      decides: holds({ rule: 'RolesNotSettled', members: [0, 1] }),
      lookAgainInSeconds: 80,
    },
    'the demotion is left to MOCO until it lets writes in': {
      given: cluster(3)
        .primaryAt(1)
        .members(member(0).stale().demotedByUs(10))
        .mysqlCluster({ available: false, primarySettledForSeconds: 7 }),
      decides: holds({ rule: 'RolesNotSettled', members: [1], unavailable: true }),
      lookAgainInSeconds: 80,
    },
    'it is taken back when MOCO has finished and left it': {
      given: cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(10)),
      decides: takesBack(0, 'NoLongerPrimary'),
    },
    'it is taken back when MOCO does not finish in its time': {
      given: moving(90),
      decides: takesBack(0, 'NoLongerPrimary'),
    },
    'it is taken back when something holds': {
      given: moving(10),
      wishes: { paused: true },
      decides: takesBack(0, 'NoLongerPrimary'),
    },
    'the mark that MOCO leaves goes with its pod, which is the next to go': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone()),
      decides: evicts('ReplicaHealthy', 0),
    },
    'the mark waits with its pod while MOCO still sets the roles': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone().role('primary'), member(1).role('replica')),
      decides: holds({ rule: 'RolesNotSettled', members: [0, 1] }),
    },
    'the mark is removed when something holds': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone()),
      wishes: { paused: true },
      decides: takesBack(0, 'MarkAlone'),
    },
    'the mark is removed when another member is due': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone(), member(2).stale()),
      decides: takesBack(0, 'MarkAlone'),
    },
    'the mark is removed from a member that is not due': {
      given: cluster(3).primaryAt(1).members(member(0).markAlone()),
      decides: takesBack(0, 'MarkAlone'),
    },
    'the mark stays on one that is primary again, or that is still said to be, and is demoted again': {
      given: cluster(3).members(member(0).stale().markAlone()),
      decides: demotes(0),
    },
    'the mark of another revision is removed': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone('another')),
      decides: takesBack(0, 'MarkAlone'),
    },
    'the mark is removed where partitions are lowered': {
      given: cluster(3).atPartition(1).primaryAt(1).members(member(0).stale().markAlone()),
      wishes: { mode: 'Partition' },
      decides: takesBack(0, 'MarkAlone'),
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
    'goes with a pod that is leaving': {
      given: cluster(3).primaryAt(1).members(member(0).stale().demotedByUs(1000).leaving()),
      decides: holds({ rule: 'MemberLeaving', member: 0 }),
    },
    'is taken back from an updated member': {
      given: cluster(3).members(member(0).updated().demotedByUs(1), member(1).stale()),
      decides: takesBack(0, 'NotDue'),
    },
    'is taken back one member at a time, the lowest ordinal first': {
      given: cluster(3).members(member(1).demotedByUs(1), member(2).demotedByUs(1)),
      decides: takesBack(1, 'NoLongerPrimary'),
    },
    'is taken back in a cluster of one too': {
      given: cluster(1).members(member(0).updated().demotedByUs(1)),
      decides: takesBack(0, 'NotDue'),
    },
    'of somebody else is never taken back': {
      given: cluster(3).members(member(0).stale().demotedBySomebody(9999)),
      wishes: { mode: 'Observe' },
      decides: handsBack,
    },
  });
});

describe('a demotion while Kubernetes or MOCO is about to catch up', () => {
  const demoted = () => cluster(3).members(member(0).stale().demotedByUs(30));
  play({
    'goes on while a StatefulSet that MOCO has made again has no revision yet': {
      given: demoted().statefulSet({ observed: false, updateRevision: '' }),
      decides: holds({ rule: 'StatefulSetNotObserved' }),
      lookAgainInSeconds: 60,
    },
    'is taken back once Kubernetes has looked at another template': {
      given: cluster(3).members(member(0).stale().demotedByUs(30, 'the one before')),
      decides: takesBack(0, 'NotDue'),
    },
    'is taken back where the StatefulSet says that it can not make a missing member: MOCO stands still': {
      given: demoted().missing(2).createFailure('exceeded quota: pods'),
      decides: takesBack(0, 'MemberMissing'),
    },
    'leaves its mark alone while it is not known which revision is wanted': {
      given: cluster(3).primaryAt(1).members(member(0).stale().markAlone()).statefulSet({ observed: false }),
      decides: holds({ rule: 'StatefulSetNotObserved' }),
    },
    'is left to MOCO that finishes the switchover, though a new template is not reconciled yet': {
      given: moving(10).mysqlCluster({ generation: 9 }),
      decides: holds({ rule: 'NotReconciled', generation: 9, succeeded: 2 }),
      lookAgainInSeconds: 80,
    },
  });
});

describe('a switchover of somebody else', () => {
  play({
    'is waited for': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(80)),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, leaving: false }),
      lookAgainInSeconds: 10,
    },
    'that moves nothing in its time keeps healthy members': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(90)),
      decides: holds({ rule: 'ForeignDemote', member: 0 }),
    },
    'that moves nothing in its time does not keep one that runs': {
      given: cluster(3).templateChanged().members(member(0).demotedBySomebody(90), member(2).lagging()),
      decides: deletes('MemberNotParticipating', 2),
    },
    'that moves nothing in its time does not keep one that is impaired': {
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

describe('a member to which MOCO gives no role', () => {
  play({
    'has the time of a failover to get one': {
      given: stale().members(member(1).unlabelled(179)),
      decides: withoutRole,
      lookAgainInSeconds: 1,
    },
    'is passed over by MOCO after that, and waited for no more': {
      given: stale().members(member(1).unlabelled(180)),
      decides: evicts('ReplicaHealthy', 2),
    },
    'owes nothing then where it is updated, so that the primary’s switchover gives MOCO something to do': {
      given: cluster(3).members(member(0).stale(), member(1).unlabelled(180)),
      decides: demotes(0),
    },
    'is waited for by its owing where nothing else is due': {
      given: cluster(3).statefulSet({ currentRevision: 'before' }).members(member(1).unlabelled(179)),
      decides: holds({ rule: 'UpdatedMemberNotParticipating', member: 1, wait: { for: 'role' } }),
      lookAgainInSeconds: 1,
    },
    'is always waited for as primary: MOCO lets writes in after it has labelled that': {
      given: stale().members(member(0).unlabelled(3600)),
      decides: holds({ rule: 'RolesNotSettled', members: [0] }),
    },
    'is waited for when the index has moved to it, and Healthy is what was said before that': {
      given: stale().primaryAt(1).members(member(0).leaving(), member(1).unlabelled(3600)),
      decides: withoutRole,
    },
    'is waited for as long as the user gives MOCO': {
      given: stale().members(member(1).unlabelled(180)),
      wishes: { failoverGraceSeconds: 300 },
      decides: withoutRole,
      lookAgainInSeconds: 120,
    },
    'is waited for while MOCO does not call the cluster Healthy: it has something to put right': {
      given: stale().members(member(1).unlabelled(3600)).mysqlCluster({ healthy: false }),
      decides: withoutRole,
    },
    'is waited for while not all are in sync': {
      given: stale().members(member(1).unlabelled(3600)).mysqlCluster({ syncedReplicas: 2 }),
      decides: withoutRole,
    },
    'is waited for where nobody knows since when it participates': {
      given: stale().members(member(1).unlabelled().but({ participatingForSeconds: null })),
      decides: withoutRole,
    },
    'is another one than a member with the wrong one, which is always waited for': {
      given: stale().members(member(1).unlabelled(3600).role('primary')),
      decides: withoutRole,
    },
  });
});
