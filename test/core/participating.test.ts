import type { Hold } from '../../src/core/decision.ts';
import { backupRunning, cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { type Case, check, deletes, demotes, evicts, holds, play } from './table.ts';

const stale = () => cluster(3).templateChanged();
const lastOne = () => cluster(3).members(member(0).stale());
const sidecarDown = 'CrashLoopBackOff';

describe('impaired members', () => {
  play({
    'are deleted, since the budget already counts them as unavailable': {
      given: stale().members(member(1).impaired('slow-log')),
      decides: deletes('MemberImpaired', 1),
    },
    'go before the healthy ones, replicas in descending ordinal': {
      given: stale().members(member(1).impaired('slow-log'), member(2).impaired('slow-log', 'ErrImagePull')),
      decides: deletes('MemberImpaired', 2),
    },
    'go as primary after the replicas': {
      given: stale().members(member(0).impaired('slow-log', sidecarDown), member(1).impaired('slow-log', sidecarDown)),
      decides: deletes('MemberImpaired', 1),
    },
    'go as primary without a demotion': {
      given: stale().members(member(0).impaired('slow-log', sidecarDown)),
      decides: deletes('MemberImpaired', 0),
    },
    'stay as primary while MOCO protects it': {
      given: stale().members(member(0).impaired('slow-log', sidecarDown).preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'stay as replica while MOCO protects it': {
      given: stale().members(member(2).impaired('slow-log', sidecarDown).preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 2 }),
    },
    'go without the one that MOCO protects': {
      given: stale().members(member(1).impaired('slow-log'), member(2).impaired('slow-log').preventDelete()),
      decides: deletes('MemberImpaired', 1),
    },
    'do not need Healthy or a budget': {
      given: stale().members(member(1).impaired('slow-log')).unhealthy().budgets({ disruptionsAllowed: 0 }),
      decides: deletes('MemberImpaired', 1),
    },
    'wait for a backup': {
      given: stale().members(member(1).impaired('slow-log')).budgets({ closed: true, disruptionsAllowed: 0 }),
      decides: holds({ rule: 'BackupRunning', budget: 'moco-test' }),
    },
    'wait for a backup that MOCO has not closed the budget for yet': {
      given: stale().members(member(1).impaired('slow-log')).backupJobs({}),
      decides: holds(backupRunning),
    },
    'wait for a member that leaves': {
      given: stale().members(member(1).impaired('slow-log'), member(2).terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
    },
    'wait for every other member to participate': {
      given: stale().members(member(1).lagging(), member(2).impaired('slow-log')),
      settings: { partition: 2 },
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [1], maxUnavailable: 1 }),
    },
    'wait for the updated ones to settle': {
      given: stale().members(member(1).impaired('slow-log'), member(2).updated().participatingFor(1)),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
    'are awaited when they are updated': {
      given: cluster(3)
        .members(member(1).stale(), member(2).impaired('slow-log'))
        .memory({ verified: true })
        .budgets({ disruptionsAllowed: 1 }),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: {
          for: 'state',
          state: 'impaired',
          evidence: { kind: 'waiting', container: 'slow-log', reason: 'CrashLoopBackOff', restarts: 4 },
        },
      }),
    },
  });
});

describe('healthy replicas', () => {
  play({
    'are evicted, the highest ordinal first': { given: stale(), decides: evicts('ReplicaHealthy', 2) },
    'go in the place of one that MOCO protects': {
      given: stale().members(member(2).preventDelete()),
      decides: evicts('ReplicaHealthy', 1),
    },
    'have the primary wait for one that MOCO protects': {
      given: cluster(3).members(member(0).stale(), member(2).stale().preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 2 }),
    },
    'go without a budget where there is none': { given: stale().budgets(), decides: evicts('ReplicaHealthy', 2) },
    'wait for Healthy': {
      given: stale().unhealthy(),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    },
    'wait for all to be in sync': {
      given: stale().mysqlCluster({ syncedReplicas: 2 }),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: true, synced: 2, replicas: 3 }),
    },
    'wait for the roles': {
      given: stale().members(member(1).unlabelled()),
      decides: holds({ rule: 'RolesNotSettled', members: [1] }),
    },
    'wait while a replica has a demote that this controller did not set': {
      given: stale().members(member(1).demotedBySomebody(1)),
      decides: holds({ rule: 'ForeignDemote', member: 1 }),
    },
    'wait while the primary carries one that has moved nothing in its time': {
      given: stale().members(member(0).demotedBySomebody(90)),
      decides: holds({ rule: 'ForeignDemote', member: 0 }),
    },
    'do not wait for a demote on a pod that is terminating, but for the pod': {
      given: stale().members(member(1).demotedBySomebody().terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 1 }),
    },
    'wait for a member below the partition that is unavailable': {
      given: stale().members(member(0).lagging()).primaryAt(1),
      settings: { partition: 1 },
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [0], maxUnavailable: 1 }),
    },
    'do not mind protection of the primary': {
      given: stale().members(member(0).preventDelete()),
      decides: evicts('ReplicaHealthy', 2),
    },
    'stop at the partition': {
      given: cluster(3).members(member(0).stale(), member(1).stale(), member(2).stale()),
      settings: { partition: 2 },
      decides: evicts('ReplicaHealthy', 2),
    },
  });
});

describe('the budget', () => {
  type Cause = Extract<Hold, { rule: 'BlockedByPDB' }>['cause'];
  const blocked = (cause: Cause, message: string | null = null) =>
    holds({ rule: 'BlockedByPDB', budget: 'moco-test', cause, healthy: 3, needed: 2, message });
  const causes: Readonly<Record<Cause, { readonly applies: Case; readonly justDoesNot: Case }>> = {
    closed: {
      applies: {
        given: stale().budgets({ closed: true, disruptionsAllowed: 0 }),
        settings: { overrides: [{ rule: 'BackupRunning', remainingSeconds: 60 }] },
        decides: holds({
          rule: 'BlockedByPDB',
          budget: 'moco-test',
          cause: 'closed',
          healthy: 3,
          needed: 2,
          message: null,
          inVain: 'BackupRunning',
        }),
      },
      justDoesNot: { given: stale().budgets({ closed: false }), decides: evicts('ReplicaHealthy', 2) },
    },
    used: {
      applies: { given: stale().budgets({ disruptionsAllowed: 0 }), decides: blocked('used') },
      justDoesNot: { given: stale().budgets({ disruptionsAllowed: 1 }), decides: evicts('ReplicaHealthy', 2) },
    },
    notObserved: {
      applies: { given: stale().budgets({ observed: false }), decides: blocked('notObserved') },
      justDoesNot: { given: stale().budgets({ observed: true }), decides: evicts('ReplicaHealthy', 2) },
    },
    refused: {
      applies: {
        given: stale().budgets({ refusal: 'Cannot evict pod', refusedForSeconds: 9 }),
        decides: blocked('refused', 'Cannot evict pod'),
        requeueAfterSeconds: 1,
      },
      justDoesNot: {
        given: stale().budgets({ refusal: 'Cannot evict pod', refusedForSeconds: 10 }),
        decides: evicts('ReplicaHealthy', 2),
      },
    },
    several: {
      applies: { given: stale().budgets({}, { name: 'of-somebody-else' }), decides: blocked('several') },
      justDoesNot: { given: stale().budgets({}), decides: evicts('ReplicaHealthy', 2) },
    },
  };
  for (const [cause, { applies, justDoesNot }] of Object.entries(causes)) {
    it(`blocks: ${cause}`, () => check(applies));
    it(`does not block: ${cause}, just below the limit`, () => check(justDoesNot));
  }
  it('blocks when its count is no number', () =>
    check({ given: stale().budgets({ disruptionsAllowed: Number.NaN }), decides: blocked('used') }));
  it('blocks the demotion of the primary too', () =>
    check({ given: lastOne().budgets({ disruptionsAllowed: 0 }), decides: blocked('used') }));
  it('reports a budget that still counts evictions of existing pods', () =>
    check({
      given: stale().budgets({ disruptionsAllowed: 0, currentHealthy: 2, awaiting: 1 }),
      decides: holds({
        rule: 'BlockedByPDB',
        budget: 'moco-test',
        cause: 'used',
        healthy: 2,
        needed: 2,
        message: null,
        awaiting: 1,
      }),
    }));
});

describe('the primary', () => {
  const failing = (tries: number, retries: boolean) => holds({ rule: 'SwitchoverFailing', member: 0, tries, retries });
  const after = (switchoverTries: number, sinceLastTrySeconds: number) =>
    lastOne().memory({ switchoverTries, sinceLastTrySeconds });
  play({
    'is demoted when nothing else is due': { given: lastOne(), decides: demotes(0) },
    'is demoted at any ordinal': {
      given: cluster(5).primaryAt(3).members(member(3).stale()),
      decides: demotes(3),
    },
    'is demoted while members below the partition are stale': {
      given: cluster(3).primaryAt(2).templateChanged(),
      settings: { partition: 2 },
      decides: demotes(2),
    },
    'is not demoted while a replica is due': {
      given: cluster(3).primaryAt(2).templateChanged(),
      settings: { partition: 1 },
      decides: evicts('ReplicaHealthy', 1),
    },
    'is not demoted when it is below the partition': {
      given: lastOne(),
      settings: { partition: 1 },
      decides: holds({ rule: 'PartitionReached', partition: 1, members: [0], pinned: [] }),
    },
    'is not demoted while the cluster is not healthy': {
      given: lastOne().unhealthy(),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    },
    'is not demoted while MOCO protects it': {
      given: cluster(3).members(member(0).stale().preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'is not evicted from a cluster of one while MOCO protects it': {
      given: cluster(1).members(member(0).stale().preventDelete()),
      decides: holds({ rule: 'MemberProtected', member: 0 }),
    },
    'is not demoted while somebody else has': {
      given: cluster(3).members(member(0).stale().demotedBySomebody()),
      decides: holds({ rule: 'SwitchoverInProgress', member: 0, terminating: false }),
      requeueAfterSeconds: 89,
    },
    'is not demoted while a replica waits for its demotion': {
      given: lastOne().members(member(2).demotedBySomebody()),
      decides: holds({ rule: 'ForeignDemote', member: 2 }),
    },
    'is demoted again 5 minutes after the first try': { given: after(1, 300), decides: demotes(0) },
    'is not demoted again before that': { given: after(1, 120), decides: failing(1, true), requeueAfterSeconds: 180 },
    'is demoted again 15 minutes after the second try': { given: after(2, 900), decides: demotes(0) },
    'is not demoted again before the 15': { given: after(2, 899), decides: failing(2, true), requeueAfterSeconds: 1 },
    'is demoted again 45 minutes after the third try': { given: after(3, 2700), decides: demotes(0) },
    'is not demoted again before the 45': { given: after(3, 2699), decides: failing(3, true), requeueAfterSeconds: 1 },
    'is not demoted a fifth time': { given: after(4, 1e9), decides: failing(4, false), requeueAfterSeconds: 600 },
  });
});
