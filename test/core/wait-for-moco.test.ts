import type { RolloutPolicy } from '../../src/core/policy.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { member, revisionBefore } from './member-builder.ts';
import { holds, notYet, play, type Table, tooYoung, when } from './table.ts';

const settings: Partial<RolloutPolicy> = { mode: 'MOCO' };
const stale = (): ClusterBuilder => cluster(3).templateChanged().atPartition(3);
const midway = (): ClusterBuilder => stale().atPartition(2).members(member(2).updated());
const awaits = (partition: number) => holds({ rule: 'AwaitingMoco', partition, member: partition });
const evidence = { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 } as const;

const watching = (table: Table): void =>
  play(Object.fromEntries(Object.entries(table).map(([sentence, one]) => [sentence, { ...one, settings }])));

describe("what MOCO's own partition controller waits for", () => {
  watching({
    'is the end of writes that never end, even when nothing is stale': when(
      cluster(3).atPartition(3).contended({ writesPerSecond: 10 }),
      holds({
        rule: 'StatefulSetNotObserved',
        contention: { writesPerSecond: 10, managers: ['moco-controller'], fields: [] },
      }),
    ),
    'is itself for the next one too': when(midway(), awaits(1)),
    'is itself where the next one is updated already': when(stale().members(member(2).updated().lagging()), awaits(2)),
    'is itself if the next one is already updated, whichever others are away': when(
      stale().members(member(2).updated(), member(0).stale().lagging()),
      awaits(2),
    ),
    'is an updated one that has not been ready for long enough': when(
      midway().members(member(2).updated().participatingFor(1)),
      tooYoung(2, 5),
    ),
    'is not the role of an updated one': when(midway().members(member(2).updated().unlabelled()), awaits(1)),
    'is the last one that terminates': when(
      cluster(3).atPartition(0).members(member(2).updated().terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
    'is nothing in a cluster that is being deleted': when(
      stale().mysqlCluster({ deleting: true }),
      holds({ rule: 'ClusterDeleting' }),
    ),
    'is a StatefulSet that is being re-created': when(
      stale().statefulSet({ deleting: true }),
      holds({ rule: 'StatefulSetDeleting' }),
    ),
    'is a cluster that is offline on purpose': when(
      stale().mysqlCluster({ offline: true }),
      holds({ rule: 'Offline' }),
    ),
    'is the StatefulSet that has still to replace one': when(
      stale().atPartition(2),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 2, wait: { for: 'revision' } }),
    ),
    'is the StatefulSet alone at partition 0': when(
      stale().atPartition(0).members(member(1).updated(), member(2).updated()),
      holds({ rule: 'UpdatedMemberNotParticipating', member: 0, wait: { for: 'revision' } }),
    ),
    'is one that terminates': when(
      midway().members(member(2).updated().terminating()),
      holds({ rule: 'MemberTerminating', member: 2 }),
    ),
    'is an updated one that starts': when(
      midway().members(member(2).updated().lagging()).memory({ verified: true }),
      notYet(2, 'running'),
    ),
    'is a revision that fails': when(
      midway().members(member(2).updated().down('ErrImagePull')),
      holds({ rule: 'UpdateRevisionFailing', member: 2, evidence }),
    ),
    'is a person, if a low ordinal is down: MOCO waits forever': when(
      stale().members(member(0).stale().down('ErrImagePull')),
      holds({
        rule: 'MemberDownOutOfOrder',
        member: 0,
        pod: 'moco-test-0',
        next: 2,
        revision: revisionBefore,
        current: revisionBefore,
      }),
    ),
    'is a low ordinal that does not participate': when(
      stale().members(member(0).stale().lagging()),
      holds({ rule: 'MaxUnavailableReached', unavailable: [0], maxUnavailable: 1 }),
    ),
    'is Healthy, for a next one that is ready': when(
      stale().unhealthy(),
      holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 }),
    ),
    'is not Healthy, for a next one that is not ready': when(
      stale().members(member(2).stale().down('ErrImagePull')),
      awaits(2),
    ),
    'is neither a backup nor a budget: it knows none': when(
      stale().budgets({ closed: true, disruptionsAllowed: 0 }),
      awaits(2),
    ),
    'is the end of what the user forced': when(
      stale().mysqlCluster({ forcedRollingUpdate: true }),
      holds({ rule: 'ForcedRollingUpdate' }),
    ),
    'is its own reconciliation': when(
      stale().mysqlCluster({ succeededGeneration: 1, reconciledGeneration: 1 }),
      holds({ rule: 'NotReconciled', generation: 2, succeeded: 1 }),
    ),
    'is a member that does not exist': when(
      midway().missing(2).but({ createFailure: 'exceeded quota' }),
      holds({ rule: 'MemberMissing', members: [2], message: 'exceeded quota' }),
    ),
    'is not what the user settings of this program': when(stale().but({ settingsProblem: 'spec is odd' }), awaits(2)),
  });
});
