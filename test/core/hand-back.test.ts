import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { handsBack, holds, play, takesBack } from './table.ts';

/** At OnDelete, labelled, `currentRevision` where a rollout before the present one has left it. */
const taken = (): ClusterBuilder => cluster(3).statefulSet({ currentRevision: revisionBefore });
const promoted = (): ClusterBuilder => cluster(3);
const promotes = (revision: string, replicas: number) => ({
  step: { kind: 'promoteRevision', revision, replicas },
});

for (const mode of ['Partition', 'Observe'] as const) {
  const wishes = { mode };
  describe(`a StatefulSet at OnDelete that is to be updated by partitions (${mode})`, () => {
    play({
      'gets its current revision first, so that nobody comes up at an older one': {
        given: taken(),
        wishes,
        decides: promotes(revisionAfter, 3),
      },
      'is handed back then': { given: promoted(), wishes, decides: handsBack },
      'gets it in the middle of a rollout too, with those that have it counted': {
        given: taken().members(member(0).stale(), member(1).stale()),
        wishes,
        decides: promotes(revisionAfter, 1),
      },
      'is handed back in the middle of a rollout': {
        given: promoted()
          .templateChanged()
          .members(member(2).updated())
          .statefulSet({ currentRevision: revisionAfter }),
        wishes,
        decides: handsBack,
      },
      'is handed back whoever is away': {
        given: promoted().members(member(0).down('ErrImagePull'), member(1).leaving()).missing(2),
        wishes,
        decides: handsBack,
      },
      'is handed back although it is paused, stopped, and the wishes are unreadable': {
        given: promoted()
          .policyProblem('spec.partition is -1')
          .mysqlCluster({ reconciliationStopped: true, clusteringStopped: true, forcedRollingUpdate: true }),
        wishes: { ...wishes, paused: true },
        decides: handsBack,
      },
      'first gets back every demotion of ours': {
        given: promoted().members(member(0).stale().demotedByUs(1)),
        wishes,
        decides: takesBack(0, 'StrategyChanged'),
      },
      'waits until Kubernetes has looked at the newest template': {
        given: taken().statefulSet({ observed: false }),
        wishes,
        decides: holds({ rule: 'StatefulSetNotObserved' }),
      },
      'waits until there is an update revision': {
        given: taken().statefulSet({ updateRevision: '' }),
        wishes,
        decides: holds({ rule: 'StatefulSetNotObserved' }),
      },
      'waits for the one that comes after it while it is being deleted': {
        given: taken().statefulSet({ deleting: true }),
        wishes,
        decides: holds({ rule: 'StatefulSetDeleting' }),
      },
    });
  });

  describe(`a current revision that a hand-back has set (${mode})`, () => {
    const after = (): ClusterBuilder => cluster(3).atPartition(0);
    play({
      'is set again where a sync of before has overwritten it': {
        given: after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionAfter),
        wishes,
        decides: promotes(revisionAfter, 3),
      },
      'is not before Kubernetes has looked at what came back': {
        given: after()
          .statefulSet({ currentRevision: revisionBefore, observed: false })
          .promoted(revisionBefore, revisionAfter),
        wishes,
        decides: holds({ rule: 'StatefulSetNotObserved' }),
      },
      'is left alone where it has stayed': {
        given: after().promoted(revisionBefore, revisionAfter),
        wishes,
        decides: 'idle',
      },
      'is left alone where it is a third one by now': {
        given: after().statefulSet({ currentRevision: 'a-third' }).promoted(revisionBefore, revisionAfter),
        wishes,
        decides: 'idle',
      },
      'is left alone where nothing had to be set': {
        given: after().statefulSet({ currentRevision: revisionBefore }).promoted(revisionBefore, revisionBefore),
        wishes,
        decides: 'idle',
      },
    });
  });
}

describe('a cluster that a person took back while the gate is on', () => {
  play({
    'has its StatefulSet handed back, by whichever process comes first': {
      given: promoted().handedBack(),
      decides: handsBack,
    },
    'gets the current revision first': { given: taken().handedBack(), decides: promotes(revisionAfter, 3) },
    'is left alone then': {
      given: promoted().handedBack().atPartition(3),
      decides: holds({ rule: 'HandedBack' }),
    },
  });
});
