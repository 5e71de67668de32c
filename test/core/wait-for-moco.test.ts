import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionBefore } from './member-builder.ts';
import { holds, play, type Table } from './table.ts';

const settings: Partial<RolloutPolicy> = { mode: 'MOCO' };
const stale = (): ClusterBuilder => cluster(3).templateChanged().atPartition(3);
const midway = (): ClusterBuilder => stale().atPartition(2).members(member(2).updated());
const awaits = (partition: number) => holds({ rule: 'AwaitingMoco', partition, member: partition });
const evidence = { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 } as const;

const watching = (table: Table): void =>
  play(Object.fromEntries(Object.entries(table).map(([sentence, one]) => [sentence, { ...one, settings }])));

describe("what MOCO's own partition controller waits for", () => {
  watching({
    'is nothing when nothing is stale, whatever the partition is': {
      given: cluster(3).atPartition(3),
      decides: 'idle',
    },
    'is the end of writes that never end, even when nothing is stale': {
      given: cluster(3).atPartition(3).contended({ writesPerSecond: 10 }),
      decides: holds({
        rule: 'StatefulSetNotObserved',
        contention: { writesPerSecond: 10, managers: ['moco-controller'], fields: [] },
      }),
    },
    'is itself when everything is right': { given: stale(), decides: awaits(2) },
    'is itself for the next one too': { given: midway(), decides: awaits(1) },
    'is itself where the next one is updated already': {
      given: stale().members(member(2).updated().lagging()),
      decides: awaits(2),
    },
    'is itself where the next one is updated already, whoever else is away': {
      given: stale().members(member(2).updated(), member(0).stale().lagging()),
      decides: awaits(2),
    },
    'is an updated one that has not been ready for long enough': {
      given: midway().members(member(2).updated().participatingFor(1)),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'minReadySeconds', minReadySeconds: 5 },
      }),
    },
    'is not the role of an updated one': {
      given: midway().members(member(2).updated().unlabelled()),
      decides: awaits(1),
    },
    'is the last one that terminates': {
      given: cluster(3).atPartition(0).members(member(2).updated().terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
    },
    'is nothing in a cluster that is being deleted': {
      given: stale().mysqlCluster({ deleting: true }),
      decides: holds({ rule: 'ClusterDeleting' }),
    },
    'is a StatefulSet that is being re-created': {
      given: stale().statefulSet({ deleting: true }),
      decides: holds({ rule: 'StatefulSetDeleting' }),
    },
    'is a cluster that is offline on purpose': {
      given: stale().mysqlCluster({ offline: true }),
      decides: holds({ rule: 'Offline' }),
    },
    'is the StatefulSet that has still to replace one': {
      given: stale().atPartition(2),
      decides: holds({ rule: 'UpdatedMemberNotParticipating', member: 2, wait: { for: 'revision' } }),
    },
    'is the StatefulSet alone at partition 0': {
      given: stale().atPartition(0).members(member(1).updated(), member(2).updated()),
      decides: holds({ rule: 'UpdatedMemberNotParticipating', member: 0, wait: { for: 'revision' } }),
    },
    'is one that terminates': {
      given: midway().members(member(2).updated().terminating()),
      decides: holds({ rule: 'MemberTerminating', member: 2 }),
    },
    'is an updated one that starts': {
      given: midway().members(member(2).updated().lagging()).memory({ verified: true }),
      decides: holds({
        rule: 'UpdatedMemberNotParticipating',
        member: 2,
        wait: { for: 'state', state: 'running', evidence: null },
      }),
    },
    'is a revision that fails': {
      given: midway().members(member(2).updated().down('ErrImagePull')),
      decides: holds({ rule: 'UpdateRevisionFailing', member: 2, evidence }),
    },
    'is a person, where a low ordinal is down: MOCO waits for ever': {
      given: stale().members(member(0).stale().down('ErrImagePull')),
      decides: holds({
        rule: 'MemberDownOutOfOrder',
        member: 0,
        pod: 'moco-test-0',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    },
    'is a low ordinal that does not participate': {
      given: stale().members(member(0).stale().lagging()),
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [0], maxUnavailable: 1 }),
    },
    'is Healthy, for a next one that is ready': {
      given: stale().unhealthy(),
      decides: holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    },
    'is not Healthy, for a next one that is not ready': {
      given: stale().members(member(2).stale().down('ErrImagePull')),
      decides: awaits(2),
    },
    'is neither a backup nor a budget: it knows none': {
      given: stale().budgets({ closed: true, disruptionsAllowed: 0 }),
      decides: awaits(2),
    },
    'is the end of what the user forced': {
      given: stale().mysqlCluster({ forcedRollingUpdate: true }),
      decides: holds({ rule: 'ForcedRollingUpdate' }),
    },
    'is its own reconciliation': {
      given: stale().mysqlCluster({ succeededGeneration: 1, reconciledGeneration: 1 }),
      decides: holds({ rule: 'NotReconciled', generation: 2, succeeded: 1 }),
    },
    'is a member that does not exist': {
      given: midway().missing(2).createFailure('exceeded quota'),
      decides: holds({ rule: 'MemberMissing', members: [2], message: 'exceeded quota' }),
    },
    'is not what the user settings of this program': {
      given: stale().settingsProblem('spec is odd'),
      decides: awaits(2),
    },
  });
});
