import { expect } from 'chai';
import { assert, object, property } from 'fast-check';
import {
  projectBudget,
  projectCluster,
  projectJob,
  projectNamespace,
  projectPod,
  projectSlimPod,
  projectStatefulSet,
} from '../../src/moco/projections.ts';
import type { ContainerRecord } from '../../src/moco/records.ts';
import { mysqlCluster, pod, recorded, statefulSet } from '../controller/moco-objects.ts';

type Json = { readonly [field: string]: unknown };

const identity = { uid: 'a-uid', resourceVersion: '42' };

/** An object as the API server sends it: the recording leaves uid and resourceVersion out. */
function sent(raw: object, change: { metadata?: Json; spec?: Json; status?: Json } = {}): Json {
  const whole = raw as { metadata?: Json; spec?: Json; status?: Json };
  return {
    ...raw,
    metadata: { ...whole.metadata, ...identity, ...change.metadata },
    spec: { ...whole.spec, ...change.spec },
    status: { ...whole.status, ...change.status },
  };
}

function projected<R>(record: R | null): R {
  if (record === null) throw new Error('expected it to be something to us, it is not');
  return record;
}

const cluster = (change = {}) => projected(projectCluster(sent(mysqlCluster(), change)));
const set = (change = {}) => projected(projectStatefulSet(sent(recorded.statefulSet, change)));
const member = (change = {}) => projected(projectPod(sent(recorded.pod, change)));
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

describe('a recorded pod', () => {
  it('keeps what decisions read', () => {
    const { containers, initContainers, labels, live, ...rest } = member();
    expect(rest).to.deep.equal({
      namespace: 'default',
      name: 'moco-test-0',
      ...identity,
      clusterName: 'test',
      node: 'n-0',
      ordinal: 0,
      createdAt: '',
      revision: 'moco-test-569dd4797f',
      revisionSetAt: null,
      role: null,
      phase: 'Running',
      ready: true,
      readyChangedAt: '2026-11-21T07:32:24Z',
      containersReadyChangedAt: '2026-11-21T07:32:24Z',
      readinessGateClosed: false,
      unschedulable: null,
      failedReason: null,
      disruption: null,
      rejected: false,
      exceededLimits: false,
      controller: null,
      startupSeconds: 3600,
      mysqld: { image: 'mysql:8.4.8', version: { version: '8.4.8', source: 'tag' } },
      mysqldKilled: false,
      imageId: null,
      deletionTimestamp: null,
      graceSeconds: 300,
      demote: false,
      demotedFor: null,
      preventDelete: false,
      agent: { ip: '127.0.1.2', probePort: 9081, metricsPort: 8080 },
    });
    expect(labels).to.include({ 'app.kubernetes.io/instance': 'test' });
    expect(containers.map(({ name, part }) => `${name} ${part}`)).to.deep.equal([
      'mysqld mysqld',
      'agent agent',
      'slow-log side',
    ]);
    expect(live).to.deep.include({ observed: true });
    expect(live?.labels).to.equal(labels);
    expect(live?.containers.map(({ name }) => name)).to.deep.equal(containers.map(({ name }) => name));
    expect(live?.containers.every(({ image }) => image.includes(':'))).to.equal(true);
    expect(projectSlimPod(sent(recorded.pod, {}))).to.deep.equal({ ...member(), live: null });
    // What an earlier process has begun is watched whatever its successor may do.
    const annotations = { 'moco-rollout.io/restart-in-place': '{}' };
    const resized = [{ manager: 'moco-rollout', subresource: 'resize', time: '2026-11-21T08:00:00Z', fieldsV1: {} }];
    for (const metadata of [{ annotations }, { managedFields: resized }]) {
      expect(projectSlimPod(sent(recorded.pod, { metadata }))).to.deep.equal(member({ metadata }));
    }
    expect(containers[0]).to.deep.equal({
      name: 'mysqld',
      part: 'mysqld',
      state: 'running',
      reason: null,
      ready: true,
      started: true,
      restarts: 0,
      hasRun: true,
      sidecar: false,
      startedAt: '2026-11-21T07:32:23Z',
      finishedAt: null,
    });
    expect(initContainers.map(({ name }) => name)).to.deep.equal(['copy-moco-init', 'moco-init']);
  });

  const nobodys: readonly string[] = [
    'moco-test',
    'moco-test-',
    'moco-test-x',
    'moco-test-1-2',
    'moco-backup-test-1',
    'test-1',
  ];
  for (const name of nobodys) {
    it(`is ignored under the name ${name}`, () => {
      expect(projectPod(sent(recorded.pod, { metadata: { name } }))).to.equal(null);
    });
  }

  it('is ignored without the label of its cluster', () => {
    expect(projectPod(sent(recorded.pod, { metadata: { labels: undefined } }))).to.equal(null);
  });

  it('has its ordinal from its name, of whatever length, and whatever its cluster is called', () => {
    expect(member({ metadata: { name: 'moco-test-10' } }).ordinal).to.equal(10);
    const labels = { 'app.kubernetes.io/instance': 'a-1' };
    expect(member({ metadata: { name: 'moco-a-1-2', labels } })).to.include({ clusterName: 'a-1', ordinal: 2 });
  });

  it('without a status from a kubelet has every container of its spec, waiting', () => {
    const { containers, initContainers, ...rest } = member({
      status: {
        phase: 'Pending',
        conditions: undefined,
        containerStatuses: undefined,
        initContainerStatuses: undefined,
      },
    });
    expect(rest).to.include({ phase: 'Pending', ready: false, readyChangedAt: null, unschedulable: null });
    for (const container of [...containers, ...initContainers]) {
      expect(container).to.include({ state: 'waiting', reason: null, ready: false, started: false, restarts: 0 });
    }
    expect(containers).to.have.length(3);
    expect(initContainers).to.have.length(2);
  });

  const states: Readonly<Record<string, readonly [status: Json, record: Partial<ContainerRecord>]>> = {
    'waits after a crash': [
      {
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { reason: 'Error', finishedAt: '2026-01-01T00:00:00Z' } },
      },
      {
        state: 'waiting',
        reason: 'CrashLoopBackOff',
        restarts: 4,
        finishedAt: '2026-01-01T00:00:00Z',
        startedAt: null,
      },
    ],
    'has ended': [
      { state: { terminated: { reason: 'Completed', finishedAt: '2026-01-01T00:00:00Z' } } },
      { state: 'terminated', reason: 'Completed', finishedAt: '2026-01-01T00:00:00Z' },
    ],
    'runs again': [
      {
        state: { running: { startedAt: '2026-01-02T00:00:00Z' } },
        lastState: { terminated: { finishedAt: '2026-01-01T00:00:00Z' } },
      },
      { state: 'running', reason: null, startedAt: '2026-01-02T00:00:00Z', finishedAt: '2026-01-01T00:00:00Z' },
    ],
    'says nothing of its state': [{ state: undefined }, { state: 'waiting', reason: null, hasRun: false }],
    'has run once, and waits for its image since': [
      {
        restartCount: 0,
        state: { waiting: { reason: 'ImagePullBackOff' } },
        lastState: { terminated: { exitCode: 1 } },
      },
      { state: 'waiting', hasRun: true, restarts: 0, finishedAt: null },
    ],
    'has never run': [{ restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } }, { hasRun: false }],
    'ran on a node that has lost it': [
      { restartCount: 0, state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', finishedAt: null } } },
      { state: 'terminated', hasRun: true, finishedAt: null },
    ],
  };
  for (const [what, [status, record]] of Object.entries(states)) {
    it(`has a container that ${what}`, () => {
      const { containers } = member({ status: { containerStatuses: [{ name: 'mysqld', ...status }] } });
      expect(containers[0]).to.include(record);
    });
  }

  it("has the scheduler's message only while it is unschedulable", () => {
    const scheduled = (condition: Json) => member({ status: { conditions: [{ type: 'PodScheduled', ...condition }] } });
    const message = '0/3 nodes are available';
    expect(scheduled({ status: 'False', reason: 'Unschedulable', message }).unschedulable).to.equal(message);
    expect(scheduled({ status: 'False', reason: 'SchedulingGated', message }).unschedulable).to.equal(null);
    expect(scheduled({ status: 'True', reason: 'Unschedulable', message }).unschedulable).to.equal(null);
  });

  it('distinguishes pods that a node has ended from those that exceeded their own limits', () => {
    const failed = (message: string, conditions: readonly Json[] = []) =>
      member({ status: { phase: 'Failed', reason: 'Evicted', message, conditions } });
    const byKubelet = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
    expect(failed('The node was low on resource: memory. ', [byKubelet])).to.include({
      failedReason: 'Evicted',
      disruption: 'TerminationByKubelet',
      exceededLimits: false,
    });
    expect(failed('', [{ ...byKubelet, status: 'False' }]).disruption).to.equal(null);
    for (const message of [
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
      'Usage of EmptyDir volume "tmp" exceeds the limit "1Gi". ',
      'Container slow-log exceeded its local ephemeral storage limit "1Gi". ',
    ]) {
      expect(failed(message)).to.include({ exceededLimits: true, disruption: null });
    }
  });

  it('has the uid of the object that controls it, and of no other owner', () => {
    const owner = (more: object) => ({ kind: 'StatefulSet', name: 'moco-test', uid: 'set', ...more });
    const owned = (more: object) => member({ metadata: { ownerReferences: [owner(more)] } });
    expect(owned({ controller: true }).controller).to.equal('set');
    expect(owned({}).controller).to.equal(null);
    expect(member({ metadata: { ownerReferences: undefined } }).controller).to.equal(null);
  });

  it('has init containers that keep running as sidecars', () => {
    const initContainers = [{ name: 'istio-proxy', restartPolicy: 'Always' }, { name: 'moco-init' }];
    expect(member({ spec: { initContainers } }).initContainers.map(({ sidecar }) => sidecar)).to.deep.equal([
      true,
      false,
    ]);
  });

  it('has a readiness gate closed until its condition is True', () => {
    const readinessGates = [{ conditionType: 'example.com/fine' }];
    const gated = (conditions: readonly Json[]) => member({ spec: { readinessGates }, status: { conditions } });
    expect(gated([]).readinessGateClosed).to.equal(true);
    expect(gated([{ type: 'example.com/fine', status: 'False' }]).readinessGateClosed).to.equal(true);
    expect(gated([{ type: 'example.com/fine', status: 'True' }]).readinessGateClosed).to.equal(false);
  });

  it('has the grace period of its deletion, which may be shorter than its own', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 };
    expect(member({ metadata })).to.include({ graceSeconds: 10, deletionTimestamp: '2026-01-01T00:00:10Z' });
    expect(member({ spec: { terminationGracePeriodSeconds: undefined } }).graceSeconds).to.equal(30);
  });

  it('carries marks and annotations by their exact values', () => {
    const annotated = (annotations: Json) => member({ metadata: { annotations } });
    expect(
      annotated({
        'moco.cybozu.com/demote': 'true',
        'moco.cybozu.com/prevent-delete': 'true',
        'moco-rollout.io/demoted-for': 'a-revision',
      }),
    ).to.include({ demote: true, preventDelete: true, demotedFor: 'a-revision' });
    expect(annotated({ 'moco.cybozu.com/demote': 'yes', 'moco.cybozu.com/prevent-delete': 'false' })).to.include({
      demote: false,
      preventDelete: false,
      demotedFor: null,
    });
  });

  it("has a role only if the label is one of MOCO's two", () => {
    const withRole = (role: string) =>
      projected(
        projectPod(
          sent(pod(1), { metadata: { labels: { ...recorded.pod.metadata.labels, 'moco.cybozu.com/role': role } } }),
        ),
      ).role;
    expect(['primary', 'replica', 'Primary', ''].map(withRole)).to.deep.equal(['primary', 'replica', null, null]);
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
      whose: 'MySQLCluster test',
    });
  });

  it('is closed while maxUnavailable is 0 or 0%', () => {
    expect(
      [0, '0%', 1, '10%', undefined].map((maxUnavailable) => budget({ spec: { maxUnavailable } }).closed),
    ).to.deep.equal([true, true, false, false, false]);
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
