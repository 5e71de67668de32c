import { type ClusterBuilder, cluster, three } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { handsBack, holds, play, takesBack, when } from './table.ts';

/** At OnDelete, labelled, `currentRevision` where a rollout before the present one has left it. */
const taken = (): ClusterBuilder => cluster(3).statefulSet({ currentRevision: revisionBefore });
const promoted = (): ClusterBuilder => cluster(3);
/**
 * Member 1 works at the update revision, and new pods start at the current one until the pod of member 0 exists again.
 */
const keptUntilCreated = (): ClusterBuilder =>
  three(member(0).stale(), member(1).updated(), member(2).stale()).keepingRevisions().missing(0);
const keptWhileHeld = (): ClusterBuilder => cluster(3).templateChanged().keepingRevisions();
const promotes = (revision: string, replicas: number, reason: 'release' | 'correction' = 'release') => ({
  step: { kind: 'promoteRevision', revision, replicas, for: reason, before: [] },
});

for (const mode of ['Partition', 'MOCO'] as const) {
  const settings = { mode };
  describe(`a StatefulSet at OnDelete that is to be updated by partitions (${mode})`, () => {
    play({
      'gets its current revision first, so that no pod starts at an older one': when(
        taken(),
        promotes(revisionAfter, 3),
        settings,
      ),
      'is released then': when(promoted(), handsBack, settings),
      'gets it in the middle of a rollout too, with those that have it counted': when(
        taken().members(member(0).stale(), member(1).stale()),
        promotes(revisionAfter, 1),
        settings,
      ),
      'is released in the middle of a rollout': when(
        promoted().templateChanged().members(member(2).updated()).statefulSet({ currentRevision: revisionAfter }),
        handsBack,
        settings,
      ),
      'is released whichever members are missing': when(
        promoted().members(member(0).down('ErrImagePull'), member(1).terminating()).missing(2),
        handsBack,
        settings,
      ),
      'gets it although new pods are kept at an older one, because a member has newer data': when(
        keptUntilCreated(),
        promotes(revisionAfter, 1),
        settings,
      ),
      'is then released, no matter at which revision new pods were kept': when(
        keptUntilCreated().statefulSet({ currentRevision: revisionAfter }),
        handsBack,
        settings,
      ),
      'keeps it while new pods are kept at it and no member has newer data': when(keptWhileHeld(), handsBack, settings),
      'gets it if the data of one member are unknown': when(
        keptWhileHeld().members(member(2).dataUnknown()),
        promotes(revisionAfter, 0),
        settings,
      ),
      'gets it if the mysqld of the update revision has run in a pod that is gone': when(
        keptWhileHeld().members(member(2).data(revisionAfter)),
        promotes(revisionAfter, 0),
        settings,
      ),
      'is released although MOCO is stopped, and the settings are unreadable': when(
        promoted()
          .but({ settingsProblem: 'spec.partition is -1' })
          .mysqlCluster({ reconciliationStopped: true, clusteringStopped: true, forcedRollingUpdate: true }),
        handsBack,
        settings,
      ),
      'stays at OnDelete while only repairs may continue': when(
        promoted().members(member(1).stale().down('ErrImagePull')),
        holds({ rule: 'Paused' }),
        { ...settings, paused: true, repairWhilePaused: true },
      ),
      'stays at OnDelete while it may be paused, since the settings are unreadable': when(
        promoted().but({ settingsProblem: 'spec.paused is 1' }),
        holds({ rule: 'SettingsInvalid', problem: 'spec.paused is 1' }),
        { ...settings, paused: true },
      ),
      'does not get its current revision while it is paused': when(taken(), holds({ rule: 'Paused' }), {
        ...settings,
        paused: true,
      }),
      'first gets back every demotion of ours': when(
        promoted().members(member(0).stale().demotedByUs(1)),
        takesBack(0, 'StrategyChanged'),
        settings,
      ),
      'waits until Kubernetes has looked at the newest template': when(
        taken().statefulSet({ observed: false }),
        holds({ rule: 'StatefulSetNotObserved' }),
        settings,
      ),
      'does not wait for the end of repeated writes': when(
        promoted().statefulSet({ strategy: 'RollingUpdate' }).contended(),
        handsBack,
        settings,
      ),
      'waits until there is an update revision': when(
        taken().statefulSet({ updateRevision: '' }),
        holds({ rule: 'StatefulSetNotObserved' }),
        settings,
      ),
      'waits for the one that comes after it while it is being deleted': when(
        taken().statefulSet({ deleting: true }),
        holds({ rule: 'StatefulSetDeleting' }),
        settings,
      ),
    });
  });

  describe(`a current revision that a release has set (${mode})`, () => {
    const after = (): ClusterBuilder => cluster(3).atPartition(0);
    play({
      'is set again where a sync of before has overwritten it': when(
        after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionAfter),
        promotes(revisionAfter, 3, 'correction'),
        settings,
      ),
      'is set again while the cluster is paused: the release is over already': when(
        after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionAfter),
        promotes(revisionAfter, 3, 'correction'),
        { ...settings, paused: true },
      ),
      'is not before Kubernetes has looked at what came back': when(
        after()
          .statefulSet({ currentRevision: revisionBefore, observed: false })
          .promoted(revisionBefore, revisionAfter),
        holds({ rule: 'StatefulSetNotObserved' }),
        settings,
      ),
      'is left alone where it has stayed': when(after().promoted(revisionBefore, revisionAfter), 'idle', settings),
      'is left alone where it is a third one by now': when(
        after().statefulSet({ currentRevision: 'a-third' }).promoted(revisionBefore, revisionAfter),
        'idle',
        settings,
      ),
      'is left alone where nothing had to be set': when(
        after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionBefore),
        'idle',
        settings,
      ),
    });
  });
}

describe('a cluster that a user released while the feature gate is on', () => {
  play({
    'has its StatefulSet released, by whichever process comes first': when(promoted().released(), handsBack),
    'keeps it while the cluster is paused': when(promoted().released(), holds({ rule: 'Paused' }), { paused: true }),
    'gets the current revision first': when(taken().released(), promotes(revisionAfter, 3)),
    'gets it although new pods are kept at an older one, because a member has newer data': when(
      keptUntilCreated().released(),
      promotes(revisionAfter, 1),
    ),
    'keeps it while new pods are kept at it and no member has newer data': when(keptWhileHeld().released(), handsBack),
    'is left alone then': when(promoted().released().atPartition(3), holds({ rule: 'Released' })),
  });
});
