import { expect } from 'chai';
import type { EffectKind } from '../../src/core/effects.ts';
import { firstHold } from '../../src/core/gates.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { survey } from '../../src/core/situation.ts';
import { appeared, cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, evicts, holds, play, setsStrategy } from './table.ts';

const stale = () => cluster(3).templateChanged();
const impossible = (problem: string) => holds({ rule: 'SnapshotInconsistent', problem });

describe('contradictory facts', () => {
  play({
    'no member wanted': {
      given: stale().mysqlCluster({ replicas: 0 }),
      decides: impossible('spec.replicas of the MySQLCluster is 0'),
    },
    'half a member wanted': {
      given: stale().mysqlCluster({ replicas: 2.5 }),
      decides: impossible('spec.replicas of the MySQLCluster is 2.5'),
    },
    'two billion members wanted': {
      given: stale().mysqlCluster({ replicas: 2_147_483_647 }),
      decides: impossible('spec.replicas of the MySQLCluster is 2147483647'),
    },
    'a primary before the first member': {
      given: stale().mysqlCluster({ primaryIndex: -1 }),
      decides: impossible('the primary index -1 is not one of 3 members'),
    },
    'a primary after the last member': {
      given: stale().mysqlCluster({ primaryIndex: 3 }),
      decides: impossible('the primary index 3 is not one of 3 members'),
    },
    'a primary between two members': {
      given: stale().mysqlCluster({ primaryIndex: 0.5 }),
      decides: impossible('the primary index 0.5 is not one of 3 members'),
    },
    'a negative count': {
      given: stale().mysqlCluster({ syncedReplicas: -1 }),
      decides: impossible('status.syncedReplicas is -1'),
    },
    'a count that is not a number': {
      given: stale().mysqlCluster({ syncedReplicas: Number.NaN }),
      decides: impossible('status.syncedReplicas is NaN'),
    },
    'two pods with one ordinal': {
      given: { ...stale().facts(), members: [...stale().facts().members, member(1).facts(0, 'twin')] },
      decides: impossible('two pods have the ordinal 1'),
    },
    'a pod with a negative ordinal': {
      given: stale().members(member(-1)),
      decides: impossible('a pod has the ordinal -1'),
    },
  });
});

describe('other ways to the same hold', () => {
  play({
    'a StatefulSet without an update revision has not been observed': {
      given: stale().statefulSet({ updateRevision: '' }),
      decides: holds({ rule: 'StatefulSetNotObserved' }),
    },
    'writes of an adopted StatefulSet that change no template hold nothing by themselves': {
      given: stale().contended(),
      decides: evicts('ReplicaHealthy', 2),
    },
    'the annotation on the StatefulSet alone forces a rolling update': {
      given: stale().statefulSet({ forcedRollingUpdate: true }),
      decides: holds({ rule: 'ForcedRollingUpdate' }),
    },
    'OnDelete without our label is not kept by the webhook': {
      given: stale().statefulSet({ labelled: false }),
      decides: setsStrategy,
    },
    'the label without OnDelete is put right': {
      given: stale().statefulSet({ strategy: 'RollingUpdate' }),
      decides: setsStrategy,
    },
    'the strategy is put right when nothing is stale': {
      given: cluster(3).statefulSet({ strategy: 'RollingUpdate', labelled: false }),
      decides: setsStrategy,
    },
    'a member that is down gets a correction at once, however many revisions came before': {
      given: stale()
        .members(member(2).down('CrashLoopBackOff'))
        .memory({ recentRevisions: appeared(1, 2, 3, 4) }),
      decides: deletes('MemberDown', 2),
    },
    'revisions whose rollouts are complete do not count': {
      given: stale().memory({
        recentRevisions: appeared(1, 2, 3, 4).map((one, index) => ({ ...one, completed: index === 0 })),
      }),
      decides: evicts('ReplicaHealthy', 2),
    },
    'three revisions are a user who changes his mind': {
      given: cluster(3).memory({ recentRevisions: appeared(1, 2, 3) }),
      decides: 'idle',
    },
    'a generation that was reconciled without success has not been applied': {
      given: stale().mysqlCluster({ generation: 3, reconciledGeneration: 3 }),
      decides: holds({ rule: 'NotReconciled', generation: 3, succeeded: 2 }),
    },
    'a generation that succeeded before it was accounted for has not been applied': {
      given: stale().mysqlCluster({ generation: 3, succeededGeneration: 3 }),
      decides: holds({ rule: 'NotReconciled', generation: 3, succeeded: 3 }),
    },
    'a pod beyond the wanted replicas is scaling': {
      given: stale().members(member(3).stale()),
      decides: holds({ rule: 'Scaling', wanted: 3, statefulSet: 3, pods: 4 }),
    },
  });
});

describe('the first hold wins', () => {
  const names = (kind: EffectKind, worst: ReturnType<typeof cluster>, settings = {}): string | undefined =>
    firstHold(survey(worst.facts(), { ...defaultPolicy, ...settings }), { kind: 'none' }, [{ kind, member: null }])
      ?.rule;

  it('among those that stop every write', () => {
    const worst = stale().mysqlCluster({ deleting: true }).statefulSet(null).ownWritePending('evict');
    expect(names('writes', worst)).to.equal('ClusterDeleting');
    expect(names('writes', worst.mysqlCluster({ deleting: false }))).to.equal('StatefulSetMissing');
    expect(names('writes', worst.statefulSet({}))).to.equal('AwaitingOwnWrite');
  });

  it('among those that stop every step but a take-back', () => {
    const worst = stale()
      .settingsProblem('unreadable')
      .statefulSet({ deleting: true, observed: false, strategy: 'RollingUpdate' })
      .mysqlCluster({ reconciliationStopped: true, clusteringStopped: true, offline: true, forcedRollingUpdate: true })
      .memory({ recentRevisions: appeared(1, 2, 3, 4) });
    const paused = { paused: true };
    expect(names('acts', worst, paused)).to.equal('SettingsInvalid');
    const readable = worst.settingsProblem(null);
    expect(names('acts', readable, paused)).to.equal('StatefulSetDeleting');
    expect(names('acts', readable.statefulSet({ deleting: false }), paused)).to.equal('StatefulSetNotObserved');
    const order = [
      ['ReconciliationStopped', { reconciliationStopped: false }],
      ['ClusteringStopped', { clusteringStopped: false }],
      ['Offline', { offline: false }],
      ['ForcedRollingUpdate', { forcedRollingUpdate: false }],
    ] as const;
    readable.statefulSet({ observed: true });
    for (const [rule, lifted] of order) {
      expect(names('acts', readable, paused)).to.equal(rule);
      readable.mysqlCluster(lifted);
    }
    expect(names('acts', readable.admissionProblem(0), paused)).to.equal('AdmissionNotInForce');
    expect(names('acts', readable.admissionProblem(30), paused)).to.equal('StrategyNotOnDelete');
    readable.statefulSet({ strategy: 'OnDelete' });
    expect(names('acts', readable, paused)).to.equal('Paused');
    expect(names('proceeds', readable)).to.equal('RevisionFlapping');
  });

  it('among those that let members go that are down', () => {
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
