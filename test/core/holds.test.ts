import { expect } from 'chai';
import type { EffectKind } from '../../src/core/effects.ts';
import { firstHold } from '../../src/core/gates.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { isPossibleSize, survey } from '../../src/core/situation.ts';
import { appeared, cluster, stale } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { decideCase, deletes, evicts, holds, play, setsStrategy, when } from './table.ts';

const impossible = (problem: string) => holds({ rule: 'SnapshotInconsistent', problem });

describe('contradictory facts', () => {
  play({
    'no member wanted': when(
      stale().mysqlCluster({ replicas: 0 }),
      impossible('spec.replicas of the MySQLCluster is 0'),
    ),
    'half a member wanted': when(
      stale().mysqlCluster({ replicas: 2.5 }),
      impossible('spec.replicas of the MySQLCluster is 2.5'),
    ),
    'two billion members wanted': when(
      stale().mysqlCluster({ replicas: 2_147_483_647 }),
      impossible('spec.replicas of the MySQLCluster is 2147483647'),
    ),
    'a primary before the first member': when(
      stale().mysqlCluster({ primaryIndex: -1 }),
      impossible('the primary index is -1, but the cluster has 3 members'),
    ),
    'a primary between two members': when(
      stale().mysqlCluster({ primaryIndex: 0.5 }),
      impossible('the primary index is 0.5, but the cluster has 3 members'),
    ),
    'a negative count': when(stale().mysqlCluster({ syncedReplicas: -1 }), impossible('status.syncedReplicas is -1')),
    'a count that is not a number': when(
      stale().mysqlCluster({ syncedReplicas: Number.NaN }),
      impossible('status.syncedReplicas is NaN'),
    ),
    'a partition between two members': when(
      stale().atPartition(0.5),
      impossible('the partition of the StatefulSet is 0.5'),
    ),
    'a negative partition': when(stale().atPartition(-1), impossible('the partition of the StatefulSet is -1')),
    'two pods with one ordinal': when(
      { ...stale().facts(), members: [...stale().facts().members, member(1).facts(0, 'twin')] },
      impossible('two pods have the ordinal 1'),
    ),
    'a pod with an ordinal that is not whole': when(
      stale().members(member(2).but({ ordinal: 0.5 })),
      impossible('a pod has the ordinal 0.5'),
    ),
    'a pod with a negative ordinal': when(stale().members(member(-1)), impossible('a pod has the ordinal -1')),
  });
});

describe('the size of a cluster', () => {
  it('is at most 25, and whole', () => {
    const sizes = [0, 0.5, 1, 25, 26, 2 ** 31 - 1, -1, Number.NaN];
    expect(sizes.filter(isPossibleSize)).to.deep.equal([1, 25]);
  });
  it('that is not a number has no missing members', () => {
    const none = { ...cluster(1).facts(), members: [] };
    const given = { ...none, cluster: { ...none.cluster, replicas: Number.NaN } };
    expect(decideCase({ given }).members).to.deep.equal([]);
  });
});

describe('other ways to the same hold', () => {
  play({
    'a StatefulSet without an update revision has not been observed': when(
      stale().statefulSet({ updateRevision: '' }),
      holds({ rule: 'StatefulSetNotObserved' }),
    ),
    'writes of an adopted StatefulSet that change no template hold nothing by themselves': when(
      stale().contended(),
      evicts('ReplicaHealthy', 2),
    ),
    'the annotation on the StatefulSet alone forces a rolling update': when(
      stale().statefulSet({ forcedRollingUpdate: true }),
      holds({ rule: 'ForcedRollingUpdate' }),
    ),
    'OnDelete without our label is not kept by the webhook': when(
      stale().statefulSet({ labelled: false }),
      setsStrategy,
    ),
    'the label without OnDelete is put right': when(stale().statefulSet({ strategy: 'RollingUpdate' }), setsStrategy),
    'the strategy is put right when nothing is stale': when(
      cluster(3).statefulSet({ strategy: 'RollingUpdate', labelled: false }),
      setsStrategy,
    ),
    'a member that is down gets a correction at once, however many revisions came before': when(
      stale()
        .members(member(2).down('CrashLoopBackOff'))
        .memory({ recentRevisions: appeared(1, 2, 3, 4) }),
      deletes('MemberDown', 2),
    ),
    'revisions whose rollouts are complete do not count': when(
      stale().memory({
        recentRevisions: appeared(1, 2, 3, 4).map((one, index) => ({ ...one, completed: index === 0 })),
      }),
      evicts('ReplicaHealthy', 2),
    ),
    'three revisions are a user who changes his mind': when(
      cluster(3).memory({ recentRevisions: appeared(1, 2, 3) }),
      'idle',
    ),
    'a generation that was reconciled without success has not been applied': when(
      stale().mysqlCluster({ generation: 3, reconciledGeneration: 3 }),
      holds({ rule: 'NotReconciled', generation: 3, succeeded: 2 }),
    ),
    'a generation that succeeded before it was accounted for has not been applied': when(
      stale().mysqlCluster({ generation: 3, succeededGeneration: 3 }),
      holds({ rule: 'NotReconciled', generation: 3, succeeded: 3 }),
    ),
    'a pod beyond the wanted replicas is scaling': when(
      stale().members(member(3).stale()),
      holds({ rule: 'Scaling', wanted: 3, statefulSet: 3, pods: 4 }),
    ),
  });
});

describe('the first hold wins', () => {
  const names = (kind: EffectKind, worst: ReturnType<typeof cluster>, settings = {}): string | undefined =>
    firstHold(survey(worst.facts(), { ...defaultPolicy, ...settings }), { kind: 'none' }, [{ kind, member: null }])
      ?.rule;

  it('among those that stop every write', () => {
    const worst = stale().mysqlCluster({ deleting: true }).statefulSet(null).but({ ownWritePending: 'evict' });
    expect(names('writes', worst)).to.equal('ClusterDeleting');
    expect(names('writes', worst.mysqlCluster({ deleting: false }))).to.equal('StatefulSetMissing');
    expect(names('writes', worst.statefulSet({}))).to.equal('AwaitingOwnWrite');
  });

  it('among those that stop every step except taking back a demotion', () => {
    const worst = stale()
      .but({ settingsProblem: 'unreadable' })
      .statefulSet({ deleting: true, observed: false, strategy: 'RollingUpdate' })
      .mysqlCluster({ reconciliationStopped: true, clusteringStopped: true, offline: true, forcedRollingUpdate: true })
      .memory({ recentRevisions: appeared(1, 2, 3, 4) });
    const paused = { paused: true };
    expect(names('acts', worst, paused)).to.equal('SettingsInvalid');
    const readable = worst.but({ settingsProblem: null });
    const order = [
      ['ReconciliationStopped', { reconciliationStopped: false }],
      ['ClusteringStopped', { clusteringStopped: false }],
      ['Offline', { offline: false }],
      ['ForcedRollingUpdate', { forcedRollingUpdate: false }],
    ] as const;
    for (const [rule, lifted] of order) {
      expect(names('acts', readable, paused)).to.equal(rule);
      readable.mysqlCluster(lifted);
    }
    expect(names('acts', readable, paused)).to.equal('Paused');
    expect(names('acts', readable)).to.equal('StatefulSetDeleting');
    expect(names('acts', readable.statefulSet({ deleting: false }))).to.equal('StatefulSetNotObserved');
    readable.statefulSet({ observed: true });
    expect(names('acts', readable.admissionProblem(0))).to.equal('AdmissionNotInForce');
    expect(names('acts', readable.admissionProblem(30))).to.equal('StrategyNotOnDelete');
    readable.statefulSet({ strategy: 'OnDelete' });
    expect(names('proceeds', readable)).to.equal('RevisionFlapping');
  });

  it('among those that let only members be replaced that are down', () => {
    const worst = stale().missing(1).statefulSet({ replicas: 5 }).mysqlCluster({ generation: 3, initialized: false });
    expect(names('proceeds', worst)).to.equal('NotReconciled');
    worst.mysqlCluster({ generation: 2 });
    expect(names('proceeds', worst)).to.equal('NotInitialized');
    worst.mysqlCluster({ initialized: true });
    expect(names('proceeds', worst)).to.equal('MemberMissing');
    worst.missing();
    expect(names('proceeds', worst)).to.equal('Scaling');
  });
});
