import { expect } from 'chai';
import { projectPod, projectSlimPod } from '../../src/moco/pod-projection.ts';
import type { ContainerRecord } from '../../src/moco/records.ts';
import { pod, recorded } from '../controller/moco-objects.ts';
import { identity, type Json, projected, sent } from './recorded-objects.ts';

const member = (change = {}) => projected(projectPod(sent(recorded.pod, change)));

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
