import type { everything } from '../../../src/core/rules/everything.ts';
import { appeared, stale } from '../cluster-builder.ts';
import { lowers, setsStrategy, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

export const examples: Examples<keyof typeof everything> = {
  SettingsInvalid: {
    applies: held(stale().but({ settingsProblem: 'spec.partition is -1.' }), { problem: 'spec.partition is -1.' }),
    says: 'the settings are invalid: spec.partition is -1',
    justDoesNot: when(stale(), next),
  },
  Released: {
    applies: held(stale().released().atPartition(3).statefulSet({ observed: false })),
    says: 'the cluster was released to MOCO',
    justDoesNot: when(stale().released().atPartition(3), lowers('ReplicaHealthy', 2, 2), { mode: 'Partition' }),
  },
  ReconciliationStopped: {
    applies: held(stale().mysqlCluster({ reconciliationStopped: true })),
    says: "MOCO's reconciliation of this cluster is stopped by an annotation",
    justDoesNot: when(stale().mysqlCluster({ reconciliationStopped: false }), next),
  },
  ClusteringStopped: {
    applies: held(stale().mysqlCluster({ clusteringStopped: true })),
    says: "MOCO's clustering of this cluster is stopped by an annotation",
    justDoesNot: when(stale().mysqlCluster({ clusteringStopped: false }), next),
  },
  Offline: {
    applies: held(stale().mysqlCluster({ offline: true })),
    says: 'the cluster is offline',
    justDoesNot: when(stale().mysqlCluster({ offline: false }), next),
  },
  ForcedRollingUpdate: {
    applies: held(stale().mysqlCluster({ forcedRollingUpdate: true })),
    says: 'annotation force-rolling-update makes Kubernetes roll out the update itself',
    justDoesNot: when(stale().mysqlCluster({ forcedRollingUpdate: false }), next),
  },
  Paused: {
    applies: held(stale(), { by: 'spec.paused' }, { paused: true, pausedBy: 'spec.paused' }),
    says: 'the rollout is paused by spec.paused',
    justDoesNot: when(stale(), next, { paused: false }),
    alsoSays: [
      {},
      'the rollout is paused',
      { by: 'spec.paused', author: 'ada', until: '2026-07-01T16:00:00Z', reason: 'a load test.' },
      'the rollout is paused by spec.paused, set by ada, until 2026-07-01T16:00:00Z: a load test',
      { by: 'spec.paused', author: 'ada' },
      'the rollout is paused by spec.paused, set by ada',
    ],
  },
  PolicyGone: {
    applies: held(
      stale().but({ policyGone: { policy: 'MySQLRolloutPolicy/freeze', sinceSeconds: 29 } }),
      { policy: 'MySQLRolloutPolicy/freeze' },
      {},
      1,
    ),
    says: "MySQLRolloutPolicy/freeze decided some of this cluster's settings but no longer exists; the settings that apply without it take effect after 30 s",
    justDoesNot: when(stale().but({ policyGone: { policy: 'MySQLRolloutPolicy/freeze', sinceSeconds: 30 } }), next),
  },
  StatefulSetDeleting: {
    applies: held(stale().statefulSet({ deleting: true })),
    says: 'the StatefulSet is being deleted or re-created',
    justDoesNot: when(stale().statefulSet({ deleting: false }), next),
  },
  StatefulSetNotObserved: {
    applies: held(stale().statefulSet({ observed: false })),
    says: 'Kubernetes has not yet observed the newest generation of the StatefulSet',
    justDoesNot: when(stale().statefulSet({ observed: true }), next),
    alsoSays: [
      {
        contention: {
          writesPerSecond: 1,
          managers: ['moco-controller'],
          fields: [
            { path: 'spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion', what: 'added' },
          ],
        },
      },
      'moco-controller keeps writing the StatefulSet (at least once a second) because the API server adds spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion (set it explicitly)',
      {
        contention: {
          writesPerSecond: 10,
          managers: ['one', 'other'],
          fields: ['a', 'b', 'c', 'd', 'e'].map((field) => ({ path: `spec.${field}`, what: 'dropped' })),
        },
      },
      'one and other keep writing the StatefulSet (at least 10 times a second) because the API server drops spec.a (remove it), drops spec.b (remove it), drops spec.c (remove it), alters 2 more',
      {
        contention: {
          writesPerSecond: null,
          managers: ['moco-controller'],
          fields: [{ path: 'spec.podTemplate.spec.hostNetwork', what: 'dropped' }],
        },
      },
      'moco-controller resets the partition each time it is lowered because the API server drops spec.podTemplate.spec.hostNetwork (remove it)',
      { contention: { writesPerSecond: 1, managers: [], fields: [] } },
      'an unknown client keeps writing the StatefulSet (at least once a second)',
    ],
  },
  AdmissionNotInForce: {
    applies: held(
      stale().atPartition(3).admissionProblem(29),
      { mode: 'OnDelete', finding: 'a dry run left it at RollingUpdate' },
      {},
      1,
    ),
    says: 'admission does not keep the StatefulSet at OnDelete: a dry run left it at RollingUpdate',
    justDoesNot: when(stale().atPartition(3).admissionProblem(30), setsStrategy),
    alsoSays: [
      { mode: 'Partition', finding: 'a dry run left it at RollingUpdate with partition 2.' },
      'admission does not keep the StatefulSet at partition = replicas: a dry run left it at RollingUpdate with partition 2',
    ],
  },
  StrategyNotOnDelete: {
    applies: held(stale().atPartition(3).adopted(29), { labelled: false }, {}, 1),
    says: 'the update strategy of the StatefulSet is not OnDelete yet',
    justDoesNot: when(stale().atPartition(3).adopted(30), setsStrategy),
    alsoSays: [{ labelled: true }, 'the StatefulSet has the label, but its update strategy is not OnDelete'],
  },
  RevisionFlapping: {
    applies: held(
      stale().memory({ recentRevisions: appeared(1, 100, 200, 599) }),
      { revisions: 4, until: 'in 1 s' },
      {},
      1,
    ),
    says: '4 update revisions within ten minutes: an unknown client keeps writing the pod template; the rollout continues at in 1 s unless another revision appears',
    justDoesNot: when(stale().memory({ recentRevisions: appeared(1, 100, 200, 600) }), next),
    alsoSays: [
      { revisions: 5, until: 'T', writers: ['kubectl-edit (MySQLCluster)'] },
      '5 update revisions within ten minutes: kubectl-edit (MySQLCluster) keeps writing the pod template; the rollout continues at T unless another revision appears',
      { revisions: 4, until: 'T', writers: ['helm (MySQLCluster)', 'reloader (StatefulSet)'] },
      '4 update revisions within ten minutes: helm (MySQLCluster), reloader (StatefulSet) have written the pod template, helm (MySQLCluster) last; the rollout continues at T unless another revision appears',
    ],
  },
};
