import type { backups } from '../../../src/core/rules/backups.ts';
import type { participating } from '../../../src/core/rules/participating.ts';
import { lastOne, stale, three } from '../cluster-builder.ts';
import { member, revisionAfter } from '../member-builder.ts';
import { deletes, demotes, evicts, holds, updatesInPlace, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const crashing = { kind: 'waiting', container: 'mysqld', reason: 'CrashLoopBackOff', restarts: 7 } as const;
const ifPossible = updatesInPlace('IfPossible');
const onlyInPlace = updatesInPlace('Only');

export const examples: Examples<Exclude<keyof typeof participating, keyof typeof backups>> = {
  UpdatedMemberNotParticipating: {
    applies: held(
      stale().members(member(2).updated().participatingFor(3)),
      { member: 2, wait: { for: 'minReadySeconds', minReadySeconds: 5 } },
      {},
      2,
    ),
    says: 'moco-test-2 is updated, but has not participated for 5 s yet',
    justDoesNot: when(stale().members(member(2).updated().participatingFor(5)), evicts('ReplicaHealthy', 1), {}, 600),
    alsoSays: [
      { member: 2, wait: { for: 'state', state: 'running', evidence: null } },
      'moco-test-2 is updated, but does not participate yet',
      { member: 2, wait: { for: 'state', state: 'down', evidence: crashing } },
      'moco-test-2 is updated, but does not participate: container mysqld is waiting (CrashLoopBackOff, 7 restarts)',
      { member: 2, wait: { for: 'role' } },
      'moco-test-2 is updated, but MOCO has not set its role yet',
      { member: 2, wait: { for: 'sidecars', containers: ['slow-log'] } },
      'moco-test-2 is updated, but slow-log is not ready yet',
    ],
  },
  AwaitingResize: {
    applies: held(
      three(member(2).stale().resizing({ forSeconds: 299, deferred: 'no room.' })),
      { member: 2, containers: ['mysqld'], deferred: 'no room.', minReadySeconds: 5 },
      ifPossible,
      1,
    ),
    says: 'the kubelet has not resized container mysqld of moco-test-2 yet and is deferring the resize (no room)',
    justDoesNot: when(
      three(member(2).stale().resizing({ forSeconds: 300, deferred: 'no room.' })),
      evicts('ReplicaHealthy', 2),
      ifPossible,
    ),
    alsoSays: [
      { member: 2, containers: ['mysqld', 'agent'], deferred: null, minReadySeconds: 5 },
      'the kubelet has not resized containers mysqld, agent of moco-test-2 yet',
      { member: 2, containers: [], deferred: null, minReadySeconds: 5 },
      'moco-test-2 has been resized, but has not participated for 5 s since',
    ],
  },
  PrimaryWaitsForPinned: {
    applies: held(stale(), { member: 0, pinned: [1, 2] }, { pinnedOrdinals: [1, 2] }),
    says: 'the primary moco-test-0 is waiting for moco-test-1, moco-test-2, which are pinned to the previous revision: a replica must not be older than its source',
    justDoesNot: when(lastOne().members(member(2).updated()), demotes(0), { pinnedOrdinals: [2] }),
  },
  RestartNeeded: {
    applies: held(
      three(member(2).stale().notChangeable('args differ', 'env differs.')),
      { member: 2, reasons: ['args differ', 'env differs.'], opensAt: null },
      onlyInPlace,
    ),
    says: "moco-test-2 can't be updated without a restart: args differ; env differs",
    justDoesNot: when(three(member(2).stale().notChangeable('args differ')), evicts('ReplicaHealthy', 2), {
      ...onlyInPlace,
      approvedRevision: revisionAfter,
    }),
    alsoSays: [
      { member: 2, reasons: ['no.'], opensAt: '2026-01-03T01:00:00Z' },
      "moco-test-2 can't be updated without a restart: no; it may restart at 2026-01-03T01:00:00Z",
    ],
  },
  ForeignDemote: {
    applies: held(stale().members(member(1).demotedBySomebody()), { member: 1 }),
    says: 'moco-test-1 has a demote annotation that this controller did not set',
    justDoesNot: when(
      stale().members(member(0).demotedBySomebody(89)),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      {},
      1,
    ),
  },
  MaxUnavailableReached: {
    applies: held(stale().members(member(1).lagging()), { unavailable: [1], maxUnavailable: 1 }, { partition: 2 }),
    says: 'moco-test-1 is unavailable; at most 1 member may be unavailable at a time',
    justDoesNot: when(stale(), next, { partition: 2 }),
    alsoSays: [
      { unavailable: [1, 2], maxUnavailable: 1 },
      'moco-test-1, moco-test-2 are unavailable; at most 1 member may be unavailable at a time',
    ],
  },
  ClusterNotHealthy: {
    applies: held(stale().mysqlCluster({ syncedReplicas: 2 }), { healthy: true, synced: 2, replicas: 3 }),
    says: 'only 2 of 3 members are in sync',
    justDoesNot: when(stale().mysqlCluster({ syncedReplicas: 3 }), next),
    alsoSays: [{ healthy: false, synced: 3, replicas: 3 }, 'MOCO does not report the cluster as Healthy'],
  },
  BlockedByPDB: {
    applies: held(stale().budgets({ disruptionsAllowed: 0, currentHealthy: 2 }), {
      budget: 'moco-test',
      cause: 'used',
      healthy: 2,
      needed: 2,
      message: null,
    }),
    says: 'PodDisruptionBudget moco-test needs 2 healthy pods and has 2',
    justDoesNot: when(stale().budgets({ disruptionsAllowed: 1 }), next),
    alsoSays: [
      { budget: 'moco-test', cause: 'closed', healthy: 3, needed: 3, message: null },
      'PodDisruptionBudget moco-test allows no disruptions; MOCO sets it this way during a backup',
      { budget: 'moco-test', cause: 'closed', healthy: 3, needed: 3, message: null, inVain: 'BackupRunning' },
      'PodDisruptionBudget moco-test allows no disruptions; MOCO sets it this way during a backup; overriding BackupRunning does not open it: let the backup end, or delete its Job',
      { budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null, awaiting: 1 },
      'PodDisruptionBudget moco-test needs 2 healthy pods and has 2; it still counts an earlier eviction, for at most two minutes',
      { budget: 'moco-test', cause: 'used', healthy: 3, needed: 2, message: null, awaiting: 2 },
      'PodDisruptionBudget moco-test needs 2 healthy pods and has 3; it still counts 2 earlier evictions, for at most two minutes',
      { budget: 'moco-test', cause: 'notObserved', healthy: 3, needed: 2, message: null },
      'PodDisruptionBudget moco-test has changed, and Kubernetes has not recounted its pods yet',
      {
        budget: 'moco-test',
        cause: 'syncFailed',
        healthy: 3,
        needed: 2,
        message: 'found no controller ref for pod "job-1"',
      },
      'PodDisruptionBudget moco-test allows no disruptions, because Kubernetes cannot count its pods (SyncFailed): found no controller ref for pod "job-1"; see `kubectl describe poddisruptionbudget moco-test`',
      { budget: 'moco-test', cause: 'refused', healthy: 3, needed: 2, message: 'Cannot evict pod.' },
      'the eviction was refused: Cannot evict pod',
      { budget: 'moco-test', cause: 'refused', healthy: 3, needed: 2, message: null },
      'the eviction was refused: PodDisruptionBudget moco-test needs 2 healthy pods',
      { budget: 'moco-test', cause: 'several', healthy: 3, needed: 2, message: null },
      'several PodDisruptionBudgets select the members, and Kubernetes does not evict such pods: MOCO did not create PodDisruptionBudget moco-test, so its owner has to delete it or narrow its selector',
      { budget: 'freeze-nodes', cause: 'closedByOthers', healthy: 3, needed: 3, message: null },
      'PodDisruptionBudget freeze-nodes allows no disruptions (maxUnavailable is 0), and MOCO did not create it: change or delete it',
      {
        budget: 'strict',
        cause: 'closedByOthers',
        healthy: 3,
        needed: 3,
        message: null,
        whose: 'owned by Kafka orders',
      },
      'PodDisruptionBudget strict (owned by Kafka orders) allows no disruptions (maxUnavailable is 0), and MOCO did not create it: change or delete it',
      { budget: 'strict', cause: 'several', healthy: 3, needed: 2, message: null, whose: 'managed by helm' },
      'several PodDisruptionBudgets select the members, and Kubernetes does not evict such pods: MOCO did not create PodDisruptionBudget strict (managed by helm), so its owner has to delete it or narrow its selector',
      {
        budget: 'moco-test',
        cause: 'refused',
        healthy: 3,
        needed: 2,
        message: 'admission webhook "guard.example.com" denied the request: not now.',
      },
      'the eviction was refused: admission webhook "guard.example.com" denied the request: not now (see `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml`)',
    ],
  },
  MemberProtected: {
    applies: held(three(member(0).stale().preventDelete()), { member: 0 }),
    says: "moco-test-0 has MOCO's annotation prevent-delete, which MOCO sets while a replica lags: the pod can't be deleted",
    justDoesNot: when(stale().members(member(2).preventDelete()), evicts('ReplicaHealthy', 1)),
  },
  NotEnoughAcknowledging: {
    applies: held(stale().members(member(1).unreachable(), member(2).lagging()), { member: 2, others: 1, needed: 2 }),
    says: 'without moco-test-2, 1 member is known to be able to acknowledge commits; 2 are needed, including the primary',
    justDoesNot: when(
      stale().members(member(1).lagging(), member(2).lagging(180)),
      deletes('MemberNotParticipating', 2),
    ),
  },
};
