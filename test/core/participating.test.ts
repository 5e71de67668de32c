import type { Hold } from '../../src/core/decision.ts';
import { backupRunning, cluster, lastOne, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { type Case, check, deletes, demotes, evicts, holds, notYet, play, tooYoung, when } from './table.ts';

const sidecarDown = 'CrashLoopBackOff';

describe('impaired members', () => {
  play({
    'are deleted, since the budget already counts them as unavailable': when(
      stale().members(member(1).impaired('slow-log')),
      deletes('MemberImpaired', 1),
    ),
    'go before the healthy ones, replicas in descending ordinal': when(
      stale().members(member(1).impaired('slow-log'), member(2).impaired('slow-log', 'ErrImagePull')),
      deletes('MemberImpaired', 2),
    ),
    'go as primary after the replicas': when(
      stale().members(member(0).impaired('slow-log', sidecarDown), member(1).impaired('slow-log', sidecarDown)),
      deletes('MemberImpaired', 1),
    ),
    'go as primary without a demotion': when(
      stale().members(member(0).impaired('slow-log', sidecarDown)),
      deletes('MemberImpaired', 0),
    ),
    'stay as primary while MOCO protects it': when(
      stale().members(member(0).impaired('slow-log', sidecarDown).preventDelete()),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'stay as replica while MOCO protects it': when(
      stale().members(member(2).impaired('slow-log', sidecarDown).preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
    ),
    'go without the one that MOCO protects': when(
      stale().members(member(1).impaired('slow-log'), member(2).impaired('slow-log').preventDelete()),
      deletes('MemberImpaired', 1),
    ),
    'do not need Healthy or a budget': when(
      stale().members(member(1).impaired('slow-log')).unhealthy().budgets({ disruptionsAllowed: 0 }),
      deletes('MemberImpaired', 1),
    ),
    'wait for a backup': when(
      stale().members(member(1).impaired('slow-log')).budgets({ closed: true, disruptionsAllowed: 0 }),
      holds({ rule: 'BackupRunning', budget: 'moco-test' }),
    ),
    'wait for a backup that MOCO has not closed the budget for yet': when(
      stale().members(member(1).impaired('slow-log')).backupJobs({}),
      holds(backupRunning),
    ),
    'wait for a member that leaves': when(
      stale().members(member(1).impaired('slow-log'), member(2).terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
    'wait for every other member to participate': when(
      stale().members(member(1).lagging(), member(2).impaired('slow-log')),
      holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
      { partition: 2 },
    ),
    'wait for the updated ones to settle': when(
      stale().members(member(1).impaired('slow-log'), member(2).updated().participatingFor(1)),
      tooYoung(2, 5),
    ),
    'are awaited when they are updated': when(
      three(member(1).stale(), member(2).impaired('slow-log'))
        .memory({ verified: true })
        .budgets({ disruptionsAllowed: 1 }),
      notYet(2, 'impaired', { kind: 'waiting', container: 'slow-log', reason: 'CrashLoopBackOff', restarts: 4 }),
    ),
    'go as primary while MOCO protects the impaired replica': when(
      stale().members(member(2).impaired('slow-log').preventDelete(), member(0).impaired('slow-log')),
      deletes('MemberImpaired', 0),
    ),
  });
});

describe('healthy replicas', () => {
  play({
    'have the primary wait for one that MOCO protects': when(
      three(member(0).stale(), member(2).stale().preventDelete()),
      holds({ rule: 'MemberProtected', member: 2 }),
    ),
    'go without a budget where there is none': when(stale().budgets(), evicts('ReplicaHealthy', 2)),
    'wait for Healthy': when(
      stale().unhealthy(),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    ),
    'wait for the roles': when(
      stale().members(member(1).unlabelled()),
      holds({ rule: 'RolesNotSettled', members: [1] }),
    ),
    'do not wait for a demote on a pod that is terminating, but for the pod': when(
      stale().members(member(1).demotedBySomebody().terminating()),
      holds({ rule: 'MemberTerminating', member: 1 }),
    ),
    'wait for a member below the partition that is unavailable': when(
      stale().members(member(0).lagging()).primaryAt(1),
      holds({ rule: 'MaxUnavailableReached', unavailable: [0], maxUnavailable: 1 }),
      { partition: 1 },
    ),
    'do not mind protection of the primary': when(
      stale().members(member(0).preventDelete()),
      evicts('ReplicaHealthy', 2),
    ),
    'stop at the partition': when(
      three(member(0).stale(), member(1).stale(), member(2).stale()),
      evicts('ReplicaHealthy', 2),
      { partition: 2 },
    ),
  });
});

describe('the budget', () => {
  type Cause = Extract<Hold, { rule: 'BlockedByPDB' }>['cause'];
  const blockedHold = (cause: Cause, message: string | null = null) =>
    ({ rule: 'BlockedByPDB', budget: 'moco-test', cause, healthy: 3, needed: 2, message }) as const;
  const blocked = (cause: Cause, message: string | null = null) => holds(blockedHold(cause, message));
  const causes: Readonly<Record<Cause, Case>> = {
    closed: when(
      stale().budgets({ closed: true, disruptionsAllowed: 0 }),
      holds({ ...blockedHold('closed'), inVain: 'BackupRunning' }),
      { overrides: [{ rule: 'BackupRunning', remainingSeconds: 60 }] },
    ),
    used: when(stale().budgets({ disruptionsAllowed: 0 }), blocked('used')),
    notObserved: when(stale().budgets({ observed: false }), blocked('notObserved')),
    syncFailed: when(
      stale().budgets({ disruptionsAllowed: 0, syncFailure: 'no controller' }),
      blocked('syncFailed', 'no controller'),
    ),
    refused: when(
      stale().budgets({ refusal: 'Cannot evict pod', refusedForSeconds: 9 }),
      blocked('refused', 'Cannot evict pod'),
      {},
      1,
    ),
    closedByOthers: when(
      stale().budgets({ name: 'freeze-nodes', closed: true, disruptionsAllowed: 0 }),
      holds({ ...blockedHold('closedByOthers'), budget: 'freeze-nodes' }),
    ),
    several: when(
      stale().budgets({}, { name: 'of-another-team' }),
      holds({ ...blockedHold('several'), budget: 'of-another-team' }),
    ),
  };
  for (const [cause, applies] of Object.entries(causes)) it(`blocks: ${cause}`, () => check(applies));

  play({
    'does not block while it allows one, although Kubernetes failed to count its pods': when(
      stale().budgets({ disruptionsAllowed: 1, syncFailure: 'no controller' }),
      evicts('ReplicaHealthy', 2),
    ),
    'does not block ten seconds after a refusal': when(
      stale().budgets({ refusal: 'Cannot evict pod', refusedForSeconds: 10 }),
      evicts('ReplicaHealthy', 2),
    ),
    'does not block while it is open, although MOCO did not create it': when(
      stale().budgets({ name: 'freeze-nodes' }),
      evicts('ReplicaHealthy', 2),
    ),
    'blocks when its count is no number': when(stale().budgets({ disruptionsAllowed: Number.NaN }), blocked('used')),
    'blocks the demotion of the primary too': when(lastOne().budgets({ disruptionsAllowed: 0 }), blocked('used')),
    'is reported with the evictions of existing pods that it still counts': when(
      stale().budgets({ disruptionsAllowed: 0, currentHealthy: 2, awaiting: 1 }),
      holds({ ...blockedHold('used'), healthy: 2, awaiting: 1 }),
    ),
  });
});

describe('the primary', () => {
  const failing = (tries: number, retries: boolean) => holds({ rule: 'SwitchoverFailing', member: 0, tries, retries });
  const after = (switchoverTries: number, sinceLastTrySeconds: number) =>
    lastOne().memory({ switchoverTries, sinceLastTrySeconds });
  play({
    'is demoted at any ordinal': when(cluster(5).primaryAt(3).members(member(3).stale()), demotes(3)),
    'is demoted while members below the partition are stale': when(
      cluster(3).primaryAt(2).templateChanged(),
      demotes(2),
      { partition: 2 },
    ),
    'is not demoted while a replica is due': when(
      cluster(3).primaryAt(2).templateChanged(),
      evicts('ReplicaHealthy', 1),
      { partition: 1 },
    ),
    'is not demoted when it is below the partition': when(
      lastOne(),
      holds({ rule: 'PartitionReached', partition: 1, members: [0], pinned: [] }),
      { partition: 1 },
    ),
    'is not demoted while the cluster is not healthy': when(
      lastOne().unhealthy(),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    ),
    'is not evicted from a cluster of one while MOCO protects it': when(
      cluster(1).members(member(0).stale().preventDelete()),
      holds({ rule: 'MemberProtected', member: 0 }),
    ),
    'is not demoted while another client has': when(
      three(member(0).stale().demotedBySomebody()),
      holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      {},
      89,
    ),
    'is not demoted while a replica waits for its demotion': when(
      lastOne().members(member(2).demotedBySomebody()),
      holds({ rule: 'ForeignDemote', member: 2 }),
    ),
    'is not demoted again before that': when(after(1, 120), failing(1, true), {}, 180),
    'is demoted again 15 minutes after the second try': when(after(2, 900), demotes(0)),
    'is not demoted again before the 15': when(after(2, 899), failing(2, true), {}, 1),
    'is demoted again 45 minutes after the third try': when(after(3, 2700), demotes(0)),
    'is not demoted again before the 45': when(after(3, 2699), failing(3, true), {}, 1),
    'is not demoted a fifth time': when(after(4, 1e9), failing(4, false), {}, 600),
  });
});
