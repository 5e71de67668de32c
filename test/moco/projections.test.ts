import { expect } from 'chai';
import { assert, object, property } from 'fast-check';
import { projectPod } from '../../src/moco/pod-projection.ts';
import {
  projectBudget,
  projectCluster,
  projectJob,
  projectNamespace,
  projectStatefulSet,
} from '../../src/moco/projections.ts';
import { mysqlCluster, recorded, statefulSet } from '../controller/moco-objects.ts';
import { identity, type Json, projected, sent } from './recorded-objects.ts';

const cluster = (change = {}) => projected(projectCluster(sent(mysqlCluster(), change)));
const set = (change = {}) => projected(projectStatefulSet(sent(recorded.statefulSet, change)));
const budget = (change = {}) => projected(projectBudget(sent(recorded.podDisruptionBudget, change)));

describe('a recorded MySQLCluster', () => {
  it('keeps only fields that decisions read', () => {
    expect(cluster()).to.deep.equal({
      namespace: 'default',
      name: 'test',
      ...identity,
      labels: {},
      generation: 1,
      hasBackupPolicy: false,
      deleting: false,
      replicas: 3,
      offline: false,
      replicatesFromElsewhere: false,
      released: false,
      templateWriters: [],
      primaryIndex: 0,
      syncedReplicas: 3,
      errantOrdinals: [],
      reconciledGeneration: 1,
      succeededGeneration: 1,
      initialized: true,
      available: true,
      healthy: true,
      mocoState: 'Healthy',
      reconciliationStopped: false,
      clusteringStopped: false,
      forcedRollingUpdate: false,
      rolloutComplete: null,
    });
  });

  it('replicates from another cluster if its spec names a Secret for that', () => {
    expect(cluster({ spec: { replicationSourceSecretName: 'upstream' } }).replicatesFromElsewhere).to.equal(true);
  });

  it('without a status from MOCO has the primary 0 and no good condition', () => {
    const { spec, metadata } = recorded.mysqlCluster;
    expect(projectCluster({ metadata: { ...metadata, ...identity }, spec, status: {} })).to.include({
      primaryIndex: 0,
      syncedReplicas: 0,
      reconciledGeneration: 0,
      succeededGeneration: null,
      initialized: false,
      available: false,
      healthy: false,
    });
  });

  for (const reason of ['Failed', 'Lost', 'Cloning', 'Restoring', 'Incomplete']) {
    it(`is what MOCO calls it: ${reason}`, () => {
      const conditions = [{ type: 'Healthy', status: 'False', reason }];
      expect(cluster({ status: { conditions } }).mocoState).to.equal(reason);
    });
  }

  it('is unknown if MOCO has no word for it', () => {
    const conditions = [{ type: 'Healthy', status: 'False', reason: 'Undecided' }];
    expect(cluster({ status: { conditions } }).mocoState).to.equal(null);
  });

  it('has no primary if the index is not a number', () => {
    expect(cluster({ status: { currentPrimaryIndex: 'one' } }).primaryIndex).to.equal(-1);
  });

  it('counts as applied only after a successful reconciliation', () => {
    const conditions = [{ type: 'ReconcileSuccess', status: 'False', observedGeneration: 1 }];
    expect(cluster({ status: { conditions } }).succeededGeneration).to.equal(null);
  });

  it('keeps its labels, by which policies select', () => {
    expect(cluster({ metadata: { labels: { tier: 'db' } } }).labels).to.deep.equal({ tier: 'db' });
  });

  it('names its errant replicas', () => {
    expect(cluster({ status: { errantReplicaList: [2, 0] } }).errantOrdinals).to.deep.equal([2, 0]);
  });

  it('is stopped, and forced, by annotations of the very value true', () => {
    const annotated = (value: string) =>
      cluster({
        metadata: {
          annotations: {
            'moco.cybozu.com/clustering-stopped': value,
            'moco.cybozu.com/reconciliation-stopped': value,
            'moco.cybozu.com/force-rolling-update': value,
          },
        },
      });
    const all = { clusteringStopped: true, reconciliationStopped: true, forcedRollingUpdate: true };
    expect(annotated('true')).to.include(all);
    for (const value of ['false', 'True', '1', '']) {
      expect(annotated(value)).to.include({
        clusteringStopped: false,
        reconciliationStopped: false,
        forcedRollingUpdate: false,
      });
    }
  });

  it('shows our own condition as it stands', () => {
    const conditions = [
      { type: 'moco-rollout.io/RolloutComplete', status: 'True', reason: 'RolloutComplete', observedGeneration: 7 },
    ];
    expect(cluster({ status: { conditions } }).rolloutComplete).to.deep.equal({
      status: true,
      reason: 'RolloutComplete',
      observedGeneration: 7,
    });
  });
});

describe('a recorded StatefulSet', () => {
  it('keeps what decisions read', () => {
    expect(set()).to.deep.include({
      name: 'moco-test',
      clusterName: 'test',
      deleting: false,
      observed: true,
      replicas: 3,
      currentRevision: 'moco-test-569dd4797f',
      updateRevision: 'moco-test-569dd4797f',
      strategy: 'RollingUpdate',
      labelled: false,
      forcedRollingUpdate: false,
    });
    expect(projectStatefulSet(sent(statefulSet()))).to.include({ strategy: 'OnDelete', labelled: true });
  });

  it('is not observed while its status is of an earlier generation', () => {
    expect(set({ status: { observedGeneration: 5 } }).observed).to.equal(false);
  });

  it('is ignored under a name or label that MOCO does not use', () => {
    expect(projectStatefulSet(sent(recorded.statefulSet, { metadata: { name: 'moco-other' } }))).to.equal(null);
    expect(projectStatefulSet(sent(recorded.statefulSet, { metadata: { labels: {} } }))).to.equal(null);
  });
});

describe('a recorded PodDisruptionBudget', () => {
  it('keeps its selector and its numbers', () => {
    expect(budget()).to.deep.equal({
      namespace: 'default',
      name: 'moco-test',
      ...identity,
      selector: {
        matchLabels: {
          'app.kubernetes.io/created-by': 'moco',
          'app.kubernetes.io/instance': 'test',
          'app.kubernetes.io/name': 'mysql',
        },
        matchExpressions: [],
      },
      observed: true,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      disruptedPods: {},
      closed: false,
      whose: 'owned by MySQLCluster test',
    });
  });

  it('is closed while maxUnavailable is 0 or 0%', () => {
    expect(
      [0, '0%', 1, '10%', undefined].map((maxUnavailable) => budget({ spec: { maxUnavailable } }).closed),
    ).to.deep.equal([true, true, false, false, false]);
  });

  it('says why Kubernetes cannot count its pods, shortened', () => {
    const failing = (reason: string, message: string) => {
      const conditions = [{ type: 'DisruptionAllowed', status: 'False', reason, message }];
      return budget({ status: { conditions } }).syncFailure;
    };
    expect(failing('SyncFailed', 'found no controller ref for pod "job-1"')).to.equal(
      'found no controller ref for pod "job-1"',
    );
    expect(failing('SyncFailed', 'x'.repeat(100_000))?.length).to.be.below(5000);
    expect(failing('InsufficientPods', '')).to.equal(undefined);
  });

  it('is not observed before Kubernetes has updated its status', () => {
    expect(budget({ status: { observedGeneration: undefined } }).observed).to.equal(false);
    expect(budget({ metadata: { generation: 2 } }).observed).to.equal(false);
  });
});

describe('a Namespace', () => {
  it('keeps only its labels', () => {
    const raw = {
      metadata: { ...identity, name: 'a', labels: { team: 'x', odd: 1 }, annotations: { b: 'c' } },
      spec: {},
    };
    expect(projectNamespace(raw)).to.deep.equal({ namespace: '', name: 'a', ...identity, labels: { team: 'x' } });
  });
});

describe('the Job of a backup', () => {
  const createdAt = '2026-07-01T12:00:00Z';
  const startedAt = '2026-07-01T12:00:01Z';
  const job = (
    status: Json,
    { name = 'emergency-backup', spec = {}, deletionTimestamp = null as string | null } = {},
  ) =>
    projectJob({
      metadata: {
        name,
        ...identity,
        creationTimestamp: createdAt,
        ...(deletionTimestamp && { deletionTimestamp }),
        labels: { 'app.kubernetes.io/instance': 'test' },
      },
      spec,
      status,
    });
  const condition = (type: string, status = 'True') => ({ conditions: [{ type, status }] });
  const suspended = { spec: { suspend: true } };
  const deleted = { deletionTimestamp: '2026-07-01T13:00:00Z' };

  const isActive: Readonly<Record<string, readonly [record: ReturnType<typeof job>, is: boolean]>> = {
    'before its controller has seen it': [job({}), true],
    'with a pod': [job({ active: 1, startTime: startedAt }), true],
    'between two pods, of which the first has failed': [job({ failed: 1, startTime: startedAt }), true],
    'once Complete': [job({ ...condition('Complete'), succeeded: 1 }), false],
    'once Failed': [job({ ...condition('Failed'), failed: 7 }), false],
    'while its pods end after the last failure': [job({ ...condition('FailureTarget'), terminating: 1 }), true],
    'with a condition that is not True': [job(condition('Complete', 'False')), true],
    'suspended without a pod': [job(condition('Suspended'), suspended), false],
    'suspended with a pod': [job({ active: 1 }, suspended), true],
    'suspended while its pod ends': [job({ terminating: 1 }, suspended), true],
    'deleted with a pod': [job({ active: 1 }, deleted), true],
    'deleted without a pod': [job({}, deleted), false],
  };
  for (const [when, [record, is]] of Object.entries(isActive)) {
    it(`${is ? 'is active' : 'is not active'} ${when}`, () => expect(record !== null).to.equal(is));
  }

  it('is active since it started, or since it was created', () => {
    expect(job({})).to.include({ clusterName: 'test', restores: false, startedAt: createdAt });
    expect(job({ startTime: startedAt })).to.include({ startedAt });
  });

  it('is distinguished from that of a restore by its name', () => {
    expect(job({}, { name: 'moco-restore-test' })).to.include({ restores: true });
    expect(job({}, { name: 'moco-restore-other' })).to.include({ restores: false });
  });

  it('is ignored without the name of a cluster', () => {
    expect(projectJob({ metadata: { name: 'emergency-backup', ...identity } })).to.equal(null);
  });
});

describe('an object of whatever shape', () => {
  const projections = { projectCluster, projectStatefulSet, projectPod, projectBudget, projectJob };
  const objects = [recorded.mysqlCluster, recorded.statefulSet, recorded.pod, recorded.podDisruptionBudget];

  for (const [name, project] of Object.entries(projections)) {
    it(`never makes ${name} throw`, () => {
      assert(property(object({ maxDepth: 4 }), (raw) => void project(raw)));
    });

    it(`never makes ${name} throw when any part is missing or of another type`, () => {
      for (const raw of objects) for (const damaged of damages(sent(raw))) project(damaged);
    });
  }

  /** The object with one of its values, at whatever depth, replaced by what doesn't belong there. */
  function* damages(value: unknown): Generator<Json> {
    for (const wrong of [undefined, null, 'text', 7, [], {}, true]) {
      for (const damaged of replaced(value, wrong)) if (isObject(damaged)) yield damaged;
    }
  }

  function* replaced(value: unknown, wrong: unknown): Generator<unknown> {
    yield wrong;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        for (const other of replaced(item, wrong)) yield value.with(index, other);
      }
    } else if (isObject(value)) {
      for (const [field, item] of Object.entries(value)) {
        for (const other of replaced(item, wrong)) yield { ...value, [field]: other };
      }
    }
  }

  function isObject(value: unknown): value is Json {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
});
