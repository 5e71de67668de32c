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
      'moco-test-2 is updated, but does not participate: container mysqld waits: CrashLoopBackOff, 7 restarts',
      { member: 2, wait: { for: 'role' } },
      'moco-test-2 is updated, but MOCO has not set its role yet',
    ],
  },
  AwaitingResize: {
    applies: held(
      three(member(2).stale().resizing({ forSeconds: 299, deferred: 'no room.' })),
      { member: 2, containers: ['mysqld'], deferred: 'no room.', minReadySeconds: 5 },
      ifPossible,
      1,
    ),
    says: 'the kubelet has not resized mysqld of moco-test-2 yet, and defers it: no room',
    justDoesNot: when(
      three(member(2).stale().resizing({ forSeconds: 300, deferred: 'no room.' })),
      evicts('ReplicaHealthy', 2),
      ifPossible,
    ),
    alsoSays: [
      { member: 2, containers: ['mysqld', 'agent'], deferred: null, minReadySeconds: 5 },
      'the kubelet has not resized mysqld, agent of moco-test-2 yet',
      { member: 2, containers: [], deferred: null, minReadySeconds: 5 },
      'moco-test-2 has been resized, and has not participated for 5 s since',
    ],
  },
  PrimaryWaitsForPinned: {
    applies: held(stale(), { member: 0, pinned: [1, 2] }, { pinnedOrdinals: [1, 2] }),
    says: 'the primary moco-test-0 waits for moco-test-1, moco-test-2, pinned to the previous revision: a replica must not be older than its source',
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
    says: 'moco-test-1 is unavailable, and at most 1 may be',
    justDoesNot: when(stale(), next, { partition: 2 }),
    alsoSays: [
      { unavailable: [1, 2], maxUnavailable: 1 },
      'moco-test-1, moco-test-2 are unavailable, and at most 1 may be',
    ],
  },
  ClusterNotHealthy: {
    applies: held(stale().mysqlCluster({ syncedReplicas: 2 }), { healthy: true, synced: 2, replicas: 3 }),
    says: '2 of 3 members are in sync',
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
      'PodDisruptionBudget moco-test allows no disruption, as it does while a backup runs',
      { budget: 'moco-test', cause: 'closed', healthy: 3, needed: 3, message: null, inVain: 'BackupRunning' },
      'PodDisruptionBudget moco-test allows no disruption, as it does while a backup runs; overriding BackupRunning does not change that: let the backup end, or delete its Job',
      { budget: 'moco-test', cause: 'used', healthy: 2, needed: 2, message: null, awaiting: 1 },
      'PodDisruptionBudget moco-test needs 2 healthy pods and has 2; it still counts an earlier eviction, for at most two minutes',
      { budget: 'moco-test', cause: 'used', healthy: 3, needed: 2, message: null, awaiting: 2 },
      'PodDisruptionBudget moco-test needs 2 healthy pods and has 3; it still counts 2 earlier evictions, for at most two minutes',
      { budget: 'moco-test', cause: 'notObserved', healthy: 3, needed: 2, message: null },
      'PodDisruptionBudget moco-test has changed, and Kubernetes has not counted its pods again yet',
      { budget: 'moco-test', cause: 'refused', healthy: 3, needed: 2, message: 'Cannot evict pod.' },
      'the eviction was refused: Cannot evict pod',
      { budget: 'moco-test', cause: 'refused', healthy: 3, needed: 2, message: null },
      'the eviction was refused: PodDisruptionBudget moco-test needs 2 healthy pods',
      { budget: 'moco-test', cause: 'several', healthy: 3, needed: 2, message: null },
      'several PodDisruptionBudgets select the members, and Kubernetes evicts no such pod: delete moco-test, which MOCO did not create',
      { budget: 'freeze-nodes', cause: 'closedByOthers', healthy: 3, needed: 3, message: null },
      'PodDisruptionBudget freeze-nodes allows no disruption (maxUnavailable is 0), and MOCO did not create it: change or delete it',
      { budget: 'strict', cause: 'closedByOthers', healthy: 3, needed: 3, message: null, whose: 'Kafka orders' },
      'PodDisruptionBudget strict (of Kafka orders) allows no disruption (maxUnavailable is 0), and MOCO did not create it: change or delete it',
      { budget: 'strict', cause: 'several', healthy: 3, needed: 2, message: null, whose: 'helm' },
      'several PodDisruptionBudgets select the members, and Kubernetes evicts no such pod: delete strict (of helm), which MOCO did not create',
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
    says: 'without moco-test-2 1 member can acknowledge commits, as far as is known, and 2 are needed, the primary among them',
    justDoesNot: when(
      stale().members(member(1).lagging(), member(2).lagging(180)),
      deletes('MemberNotParticipating', 2),
    ),
  },
};
