import type { failing, unfinished } from '../../../src/core/rules/unfinished.ts';
import { stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, evicts, notYet, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const crashing = { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 } as const;

export const examples: Examples<keyof typeof failing | keyof typeof unfinished> = {
  UpdateRevisionFailing: {
    applies: held(stale().members(member(2).updated().down('CrashLoopBackOff')), {
      member: 2,
      evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 7 },
    }),
    says: 'the new revision fails on moco-test-2: container mysqld has not been ready since it restarted (7 restarts); no other member is updated until the template is corrected',
    alsoSays: [
      {
        member: 2,
        evidence: { kind: 'waiting', container: 'istio-proxy', reason: 'CrashLoopBackOff', restarts: 4 },
        injected: 'istio-proxy',
      },
      'the new revision fails on moco-test-2: container istio-proxy is waiting (CrashLoopBackOff, 4 restarts); admission has added container istio-proxy, which is not in the template (see `kubectl get mutatingwebhookconfigurations`): no other member is updated until that container works',
    ],
    justDoesNot: when(
      stale().members(member(2).updated().down('CrashLoopBackOff')).memory({ verified: true }),
      notYet(2, 'down', crashing),
    ),
  },
  NotReconciled: {
    applies: held(stale().mysqlCluster({ generation: 3 }), { generation: 3, succeeded: 2 }),
    says: 'MOCO has not yet applied generation 3 of the MySQLCluster (it is at 2)',
    justDoesNot: when(stale().mysqlCluster({ generation: 3, reconciledGeneration: 3, succeededGeneration: 3 }), next),
    alsoSays: [
      { generation: 3, succeeded: null },
      'MOCO has not yet applied generation 3 of the MySQLCluster',
      { generation: 3, succeeded: 3 },
      'MOCO has not yet applied generation 3 of the MySQLCluster',
    ],
  },
  NotInitialized: {
    applies: held(stale().mysqlCluster({ initialized: false })),
    says: 'the cluster is not initialized: it is cloning or restoring, or has never started',
    justDoesNot: when(
      stale().mysqlCluster({ initialized: false }).members(member(2).down('ImagePullBackOff')),
      deletes('MemberDown', 2),
    ),
  },
  MemberMissing: {
    applies: held(stale().missing(1), { members: [1], message: null }),
    says: 'moco-test-1 does not exist',
    justDoesNot: when(
      stale().members(member(1).terminating(), member(2).down('CrashLoopBackOff')),
      deletes('MemberDown', 2),
    ),
    alsoSays: [
      { members: [1, 2], message: null },
      'moco-test-1, moco-test-2 do not exist',
      { members: [2], message: 'exceeded quota: pods' },
      'moco-test-2 does not exist: exceeded quota: pods (see `kubectl describe resourcequota pods`)',
    ],
  },
  Scaling: {
    applies: held(stale(5).statefulSet({ replicas: 3 }), { wanted: 5, statefulSet: 3, pods: 5 }),
    says: 'the cluster is scaling: 5 replicas wanted; the StatefulSet has 3, and 5 pods exist',
    justDoesNot: when(stale(5), evicts('ReplicaHealthy', 4)),
    alsoSays: [
      { wanted: 5, statefulSet: 3, pods: 4 },
      'the cluster is scaling: 5 replicas wanted; the StatefulSet has 3, and 4 pods exist',
    ],
  },
};
