import type { untouchable } from '../../../src/core/rules/untouchable.ts';
import { stale } from '../cluster-builder.ts';
import { evicts, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

export const examples: Examples<keyof typeof untouchable> = {
  SnapshotInconsistent: {
    applies: held(stale().mysqlCluster({ primaryIndex: 3 }), {
      problem: 'the primary index is 3, but the cluster has 3 members',
    }),
    says: "the cluster's objects contradict each other: the primary index is 3, but the cluster has 3 members",
    justDoesNot: when(stale().primaryAt(2), evicts('ReplicaHealthy', 1)),
    alsoSays: [
      { problem: 'pod moco-test-2 is Ready, but its container mysqld is not' },
      "the cluster's objects contradict each other: pod moco-test-2 is Ready, but its container mysqld is not",
    ],
  },
  ClusterDeleting: {
    applies: held(stale().mysqlCluster({ deleting: true })),
    says: 'the MySQLCluster is being deleted',
    justDoesNot: when(stale().mysqlCluster({ deleting: false }), next),
  },
  RolloutNotOwned: {
    applies: held(stale().but({ rolloutProblem: { kind: 'notOwned', owner: 'other (uid 1)' } }), {
      owner: 'other (uid 1)',
    }),
    says: 'the MySQLRollout belongs to a different MySQLCluster, other (uid 1): remove its ownerReferences to keep its spec, or delete it',
    justDoesNot: when(stale().but({ rolloutProblem: null }), next),
  },
  RolloutTerminating: {
    applies: held(
      stale().but({ rolloutProblem: { kind: 'terminating', finalizers: ['example.com/keep', 'orphan'] } }),
      {
        finalizers: ['example.com/keep', 'orphan'],
      },
    ),
    says: 'the MySQLRollout is being deleted; these finalizers are blocking its removal: example.com/keep, orphan',
    justDoesNot: when(stale().but({ rolloutProblem: null }), next),
    alsoSays: [{ finalizers: [] }, 'the MySQLRollout is being deleted'],
  },
  StatefulSetMissing: {
    applies: held(stale().statefulSet(null)),
    says: 'the StatefulSet does not exist',
    justDoesNot: when(stale().statefulSet({}), next),
  },
  DefinitionOutdated: {
    applies: held(stale().but({ statusRefusal: 'unknown field' }), { message: 'unknown field' }),
    says: 'the MySQLRollout CRD is outdated: apply the CRDs of this version of moco-rollout (unknown field)',
    justDoesNot: when(stale().but({ statusRefusal: null }), next),
  },
  AwaitingOwnWrite: {
    applies: held(stale().but({ ownWritePending: 'evict moco-test-2' }), { write: 'evict moco-test-2' }),
    says: 'waiting to see the effect of the last step (evict moco-test-2)',
    justDoesNot: when(stale(), next),
  },
};
