import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { handsBack, holds, play, takesBack } from './table.ts';

/** At OnDelete, labelled, `currentRevision` where a rollout before the present one has left it. */
const taken = (): ClusterBuilder => cluster(3).statefulSet({ currentRevision: revisionBefore });
const promoted = (): ClusterBuilder => cluster(3);
const promotes = (revision: string, replicas: number, reason: 'release' | 'correction' = 'release') => ({
  step: { kind: 'promoteRevision', revision, replicas, for: reason, before: [] },
});

for (const mode of ['Partition', 'MOCO'] as const) {
  const settings = { mode };
  describe(`a StatefulSet at OnDelete that is to be updated by partitions (${mode})`, () => {
    play({
      'gets its current revision first, so that nobody comes up at an older one': {
        given: taken(),
        settings,
        decides: promotes(revisionAfter, 3),
      },
      'is released then': { given: promoted(), settings, decides: handsBack },
      'gets it in the middle of a rollout too, with those that have it counted': {
        given: taken().members(member(0).stale(), member(1).stale()),
        settings,
        decides: promotes(revisionAfter, 1),
      },
      'is released in the middle of a rollout': {
        given: promoted()
          .templateChanged()
          .members(member(2).updated())
          .statefulSet({ currentRevision: revisionAfter }),
        settings,
        decides: handsBack,
      },
      'is released whoever is away': {
        given: promoted().members(member(0).down('ErrImagePull'), member(1).terminating()).missing(2),
        settings,
        decides: handsBack,
      },
      'is released although MOCO is stopped, and the settings are unreadable': {
        given: promoted()
          .settingsProblem('spec.partition is -1')
          .mysqlCluster({ reconciliationStopped: true, clusteringStopped: true, forcedRollingUpdate: true }),
        settings,
        decides: handsBack,
      },
      'stays at OnDelete while it is paused': {
        given: promoted().templateChanged(),
        settings: { ...settings, paused: true },
        decides: holds({ rule: 'Paused' }),
      },
      'stays at OnDelete while only repairs may go on': {
        given: promoted().members(member(1).stale().down('ErrImagePull')),
        settings: { ...settings, paused: true, repairWhilePaused: true },
        decides: holds({ rule: 'Paused' }),
      },
      'stays at OnDelete while it may be paused, since the settings are unreadable': {
        given: promoted().settingsProblem('spec.paused is 1'),
        settings: { ...settings, paused: true },
        decides: holds({ rule: 'SettingsInvalid', problem: 'spec.paused is 1' }),
      },
      'does not get its current revision while it is paused': {
        given: taken(),
        settings: { ...settings, paused: true },
        decides: holds({ rule: 'Paused' }),
      },
      'gets back a demotion of ours while it is paused': {
        given: promoted().members(member(0).stale().demotedByUs(1)),
        settings: { ...settings, paused: true },
        decides: takesBack(0, 'StrategyChanged'),
      },
      'first gets back every demotion of ours': {
        given: promoted().members(member(0).stale().demotedByUs(1)),
        settings,
        decides: takesBack(0, 'StrategyChanged'),
      },
      'waits until Kubernetes has looked at the newest template': {
        given: taken().statefulSet({ observed: false }),
        settings,
        decides: holds({ rule: 'StatefulSetNotObserved' }),
      },
      'does not wait until nobody writes it again and again': {
        given: promoted().statefulSet({ strategy: 'RollingUpdate' }).contended(),
        settings,
        decides: handsBack,
      },
      'waits until there is an update revision': {
        given: taken().statefulSet({ updateRevision: '' }),
        settings,
        decides: holds({ rule: 'StatefulSetNotObserved' }),
      },
      'waits for the one that comes after it while it is being deleted': {
        given: taken().statefulSet({ deleting: true }),
        settings,
        decides: holds({ rule: 'StatefulSetDeleting' }),
      },
    });
  });

  describe(`a current revision that a release has set (${mode})`, () => {
    const after = (): ClusterBuilder => cluster(3).atPartition(0);
    play({
      'is set again where a sync of before has overwritten it': {
        given: after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionAfter),
        settings,
        decides: promotes(revisionAfter, 3, 'correction'),
      },
      'is set again while the cluster is paused: the release is over already': {
        given: after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionAfter),
        settings: { ...settings, paused: true },
        decides: promotes(revisionAfter, 3, 'correction'),
      },
      'is not before Kubernetes has looked at what came back': {
        given: after()
          .statefulSet({ currentRevision: revisionBefore, observed: false })
          .promoted(revisionBefore, revisionAfter),
        settings,
        decides: holds({ rule: 'StatefulSetNotObserved' }),
      },
      'is left alone where it has stayed': {
        given: after().promoted(revisionBefore, revisionAfter),
        settings,
        decides: 'idle',
      },
      'is left alone where it is a third one by now': {
        given: after().statefulSet({ currentRevision: 'a-third' }).promoted(revisionBefore, revisionAfter),
        settings,
        decides: 'idle',
      },
      'is left alone where nothing had to be set': {
        given: after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionBefore),
        settings,
        decides: 'idle',
      },
    });
  });
}

describe('a cluster that a user released while the feature gate is on', () => {
  play({
    'has its StatefulSet released, by whichever process comes first': {
      given: promoted().released(),
      decides: handsBack,
    },
    'keeps it while the cluster is paused': {
      given: promoted().released(),
      settings: { paused: true },
      decides: holds({ rule: 'Paused' }),
    },
    'gets the current revision first': { given: taken().released(), decides: promotes(revisionAfter, 3) },
    'is left alone then': {
      given: promoted().released().atPartition(3),
      decides: holds({ rule: 'Released' }),
    },
  });
});
