import { contradiction } from '../member.ts';
import { isPossibleSize, type Situation } from '../situation.ts';
import { after, holdsIf, rule } from './rule.ts';

// Rules under which nothing at all is written.

export const untouchable = {
  SnapshotInconsistent: rule<{ readonly problem: string }>({
    holds: ({ situation }) => {
      const problem = inconsistency(situation);
      return problem === null ? null : { problem };
    },
    sentence: ({ problem }) => `the cluster's objects contradict each other: ${problem}`,
    meaning:
      "The cluster's objects contradict each other, for example because two pods have the same ordinal, or because a pod is Ready but its mysqld is not.",
    details: 'The controller does nothing while the facts are inconsistent.',
    endedBy: ['a person', 'time'],
    ends: 'By itself, if the next observation is consistent. Otherwise check the objects that the message names. If those objects are correct, report a bug in moco-rollout.',
    alarms: true,
    assumed: null,
  }),
  ClusterDeleting: rule({
    holds: ({ situation }) => holdsIf(situation.snapshot.cluster.deleting),
    sentence: () => 'the MySQLCluster is being deleted',
    meaning: 'The MySQLCluster is being deleted, and its pods with it.',
    endedBy: ['MOCO'],
    ends: 'By itself, when the MySQLCluster is gone. If it remains, check its finalizers. MOCO removes its own finalizer once it has cleaned up.',
    requestedBy: 'the deletion of the MySQLCluster',
    assumed: null,
  }),
  RolloutNotOwned: rule<{
    /** The other MySQLCluster and its uid. */
    readonly owner: string;
  }>({
    holds: ({ situation }) => {
      const { rolloutProblem: problem } = situation.snapshot;
      return problem?.kind === 'notOwned' ? { owner: problem.owner } : null;
    },
    sentence: ({ owner }) =>
      `the MySQLRollout belongs to a different MySQLCluster, ${owner}: remove its ownerReferences to keep its spec, or delete it`,
    meaning: 'The MySQLRollout has an owner reference to a different MySQLCluster.',
    details:
      'This happens when a MySQLRollout is copied with its metadata. Its spec and status may describe the other cluster.',
    endedBy: ['a person', 'Kubernetes'],
    ends: 'Remove `metadata.ownerReferences` from the MySQLRollout to keep its spec, or delete it: the controller then creates a new one. If a MySQLCluster was deleted and created again, the garbage collector of Kubernetes deletes the old MySQLRollout within seconds.',
    alarms: true,
    brief: true,
    assumed: null,
  }),
  RolloutTerminating: rule<{ readonly finalizers: readonly string[] }>({
    holds: ({ situation }) => {
      const { rolloutProblem: problem } = situation.snapshot;
      return problem?.kind === 'terminating' ? { finalizers: problem.finalizers } : null;
    },
    sentence: ({ finalizers }) =>
      `the MySQLRollout is being deleted${finalizers.length === 0 ? '' : `; these finalizers are blocking its removal: ${finalizers.join(', ')}`}`,
    meaning: 'The MySQLRollout is being deleted, but a finalizer is blocking its removal.',
    details: 'The controller records each step in the MySQLRollout. That record would be lost, so no step begins.',
    endedBy: ['a person'],
    ends: 'When the MySQLRollout is gone: the controller then creates a new one, with an empty spec. The message names the finalizers; their owners have to remove them.',
    alarms: true,
    brief: true,
    assumed: null,
  }),
  StatefulSetMissing: rule({
    holds: ({ situation }) => holdsIf(situation.snapshot.statefulSet === null),
    sentence: () => 'the StatefulSet does not exist',
    meaning: 'The MySQLCluster has no StatefulSet.',
    endedBy: ['MOCO'],
    ends: 'By itself: MOCO creates the StatefulSet, or re-creates it with a different volume template. If the StatefulSet does not appear, check the log of moco-controller.',
    brief: true,
    assumed: null,
  }),
  DefinitionOutdated: rule<{
    /** The API server's message about a status with fields that its CRD does not know. */
    readonly message: string;
  }>({
    holds: ({ situation }) => {
      const { statusRefusal: message } = situation.snapshot;
      return message === null ? null : { message };
    },
    sentence: ({ message }) =>
      `the MySQLRollout CRD is outdated: apply the CRDs of this version of moco-rollout (${message})`,
    meaning: 'The MySQLRollout CRD is outdated: the API server refuses a status that the controller has to record.',
    details: 'A step that is not recorded could be done twice, so no step is done.',
    endedBy: ['a person'],
    ends: "Apply the CRDs of the controller's version: `kubectl apply --server-side -k config/crd`, or upgrade the installation that they belong to. The controller tries again every 30 seconds.",
    alarms: true,
    assumed: null,
  }),
  AwaitingOwnWrite: rule<{ readonly write: string }>({
    holds: ({ situation }) => {
      const { ownWritePending: write } = situation.snapshot;
      return write === null ? null : { write };
    },
    sentence: ({ write }) => `waiting to see the effect of the last step (${write})`,
    meaning: 'The controller has done a step but does not see its effect yet.',
    endedBy: ['Kubernetes', 'moco-rollout'],
    ends: 'By itself within moments. After 30 seconds the controller reads without its cache.',
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, ownWritePending: null })),
  }),
};

function inconsistency({
  snapshot: { cluster, statefulSet, members: pods },
  members,
  replicas,
}: Situation): string | null {
  if (!isPossibleSize(replicas)) return `spec.replicas of the MySQLCluster is ${replicas}`;
  if (!Number.isInteger(cluster.primaryIndex) || cluster.primaryIndex < 0 || cluster.primaryIndex >= replicas) {
    return `the primary index is ${cluster.primaryIndex}, but the cluster has ${replicas} members`;
  }
  if (!(cluster.syncedReplicas >= 0)) return `status.syncedReplicas is ${cluster.syncedReplicas}`;
  const partition = statefulSet?.partition ?? 0;
  if (!Number.isInteger(partition) || partition < 0) return `the partition of the StatefulSet is ${partition}`;
  const seen = new Set<number>();
  for (const { ordinal } of pods) {
    if (!Number.isInteger(ordinal) || ordinal < 0) return `a pod has the ordinal ${ordinal}`;
    if (seen.has(ordinal)) return `two pods have the ordinal ${ordinal}`;
    seen.add(ordinal);
  }
  for (const { facts } of members) {
    const problem = contradiction(facts);
    if (problem !== null) return `pod ${facts.name} ${problem}`;
  }
  return null;
}
