import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, stale } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { deletes, holds, lowers, play, promotes, when } from './table.ts';

const settings: Partial<RolloutPolicy> = { mode: 'Partition' };

/** The first image was wrong and has been corrected; MOCO's webhook, or ours, has put the partition at the top. */
const corrected = (): ClusterBuilder =>
  stale()
    .atPartition(3)
    .mysqlCluster({ initialized: false, healthy: false, available: false })
    .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().down('ErrImagePull')));

describe('a cluster without serving members, in partition mode', () => {
  play({
    'gets the corrected revision as its current one: below the partition pods are made from that': when(
      corrected().statefulSet({ currentRevision: revisionBefore }),
      promotes(3, 'start', 2, 1, 0),
      settings,
    ),
    'then replaces its broken members, which start at the corrected one': when(
      corrected().statefulSet({ currentRevision: revisionAfter }),
      deletes('MemberDown', 2, 1, 0),
      settings,
    ),
    'loses them while another one terminates, too': when(
      corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(member(2).stale().terminating()),
      deletes('MemberDown', 1, 0),
      settings,
    ),
    'keeps those that run: they may be cloning': when(
      corrected()
        .members(member(2).stale().lagging(), member(1).stale().lagging())
        .statefulSet({ currentRevision: revisionAfter }),
      deletes('MemberDown', 0),
      settings,
    ),
    'waits for MOCO when none is down': when(
      corrected().members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging())),
      holds({ rule: 'NotInitialized' }),
      settings,
    ),
    'is one in which no member works, whatever MOCO reports': when(
      corrected().statefulSet({ currentRevision: revisionAfter }).mysqlCluster({ initialized: true }),
      deletes('MemberDown', 2, 1, 0),
      settings,
    ),
    'is none any more once one of them works: partitions decide': when(
      corrected()
        .statefulSet({ currentRevision: revisionBefore })
        .mysqlCluster({ initialized: true })
        .members(member(1).stale().lagging()),
      lowers('MemberDown', 2, 2),
      settings,
    ),
    'loses the others of its broken members, too, if the deletion failed for some of them': when(
      corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(member(0).updated()),
      deletes('MemberDown', 2, 1),
      settings,
    ),
    'has the grace of a failover where they run': when(
      corrected()
        .mysqlCluster({ initialized: true })
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
        .primaryUnavailableFor(179),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
      settings,
      1,
    ),
    'gets the corrected revision after that, too': when(
      corrected()
        .statefulSet({ currentRevision: revisionBefore })
        .mysqlCluster({ initialized: true })
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
        .primaryUnavailableFor(180),
      promotes(3, 'start', 0),
      settings,
    ),
    'and loses its primary alone': when(
      corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(...[0, 1, 2].map((ordinal) => member(ordinal).stale().lagging()))
        .primaryUnavailableFor(180),
      deletes('PrimaryNotParticipating', 0),
      settings,
    ),
    'none while one of them participates': when(
      corrected()
        .statefulSet({ currentRevision: revisionAfter })
        .mysqlCluster({ initialized: true })
        .members(member(0).stale().lagging(), member(1).stale().lagging(), member(2).stale())
        .primaryUnavailableFor(180),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
      settings,
    ),
    'is left alone in mode MOCO': when(corrected(), holds({ rule: 'NotInitialized' }), { mode: 'MOCO' }),
  });
});
