import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { deletes, holds, lowers, play, promotes } from './table.ts';

const settings: Partial<RolloutPolicy> = { mode: 'Partition' };

/** The first image was wrong and has been corrected; MOCO's webhook, or ours, has put the partition at the top. */
const corrected = (): ClusterBuilder =>
  cluster(3)
    .templateChanged()
    .atPartition(3)
    .mysqlCluster({ initialized: false, healthy: false, available: false })
    .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().down('ErrImagePull')));

describe('a cluster without serving members, in partition mode', () => {
  play({
    'gets the corrected revision as its current one: below the partition pods are made from that': {
      given: corrected().statefulSet({ currentRevision: revisionBefore }),
      settings,
      decides: promotes(3, 'start', 2, 1, 0),
    },
    'loses its broken members then, which come up at the corrected one': {
      given: corrected().statefulSet({ currentRevision: revisionAfter }),
      settings,
      decides: deletes('MemberDown', 2, 1, 0),
    },
    'loses them while another one terminates, too': {
      given: corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(member(2).stale().terminating()),
      settings,
      decides: deletes('MemberDown', 1, 0),
    },
    'keeps those that run: they may be cloning': {
      given: corrected()
        .members(member(2).stale().lagging(), member(1).stale().lagging())
        .statefulSet({ currentRevision: revisionAfter }),
      settings,
      decides: deletes('MemberDown', 0),
    },
    'waits for MOCO when none is down': {
      given: corrected().members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging())),
      settings,
      decides: holds({ rule: 'NotInitialized' }),
    },
    'is one in which no member works, whatever MOCO reports': {
      given: corrected().statefulSet({ currentRevision: revisionAfter }).mysqlCluster({ initialized: true }),
      settings,
      decides: deletes('MemberDown', 2, 1, 0),
    },
    'is none any more once one of them works: partitions decide': {
      given: corrected()
        .statefulSet({ currentRevision: revisionBefore })
        .mysqlCluster({ initialized: true })
        .members(member(1).stale().lagging()),
      settings,
      decides: lowers('MemberDown', 2, 2),
    },
    'loses the others of its broken members, too, if the deletion failed for some of them': {
      given: corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(member(0).updated()),
      settings,
      decides: deletes('MemberDown', 2, 1),
    },
    'has the grace of a failover where they run': {
      given: corrected()
        .mysqlCluster({ initialized: true })
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
        .primaryUnavailableFor(179),
      settings,
      decides: holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
      requeueAfterSeconds: 1,
    },
    'gets the corrected revision after that, too': {
      given: corrected()
        .statefulSet({ currentRevision: revisionBefore })
        .mysqlCluster({ initialized: true })
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
        .primaryUnavailableFor(180),
      settings,
      decides: promotes(3, 'start', 0),
    },
    'and loses its primary alone': {
      given: corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
        .primaryUnavailableFor(180),
      settings,
      decides: deletes('PrimaryNotParticipating', 0),
    },
    'none while one of them participates': {
      given: corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(member(0).stale().lagging(), member(1).stale().lagging(), member(2).stale())
        .primaryUnavailableFor(180),
      settings,
      decides: holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
    },
    'is left alone in mode MOCO': {
      given: corrected(),
      settings: { mode: 'MOCO' },
      decides: holds({ rule: 'NotInitialized' }),
    },
  });
});
