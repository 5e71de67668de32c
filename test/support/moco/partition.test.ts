import { expect } from 'chai';
import { mergePatch } from '../merge-patch.ts';
import type { ClusterView } from './cluster-view.ts';
import type { MySQLCluster, Pod, StatefulSet } from './objects.ts';
import { lowerPartition } from './partition.ts';
import { realPartitionIntervals } from './settings.ts';
import { cluster, emptyView } from './story.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const longAgo = '2026-11-21T07:00:00Z';
const aMomentAgo = '2026-11-21T07:59:56Z';

function pod(ordinal: number, revision: string, change: object = {}): Pod {
  const base = {
    metadata: {
      name: `moco-test-${ordinal}`,
      namespace: 'default',
      uid: `pod-${ordinal}`,
      resourceVersion: '1',
      labels: { 'controller-revision-hash': revision },
    },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: longAgo }],
      containerStatuses: [{ name: 'mysqld', ready: true }],
    },
  };
  return mergePatch(base, change) as Pod;
}

function ready(status: 'True' | 'False', lastTransitionTime = longAgo): object {
  return { status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } };
}

function view(partition: number | null, pods: readonly Pod[], healthy = true): ClusterView {
  const status = {
    reconcileInfo: { generation: 1 },
    conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False' }],
  };
  const statefulSet: StatefulSet = {
    metadata: { name: 'moco-test', namespace: 'default', uid: 'set-1', resourceVersion: '1', generation: 5 },
    spec: {
      replicas: pods.length,
      updateStrategy: partition === null ? { type: 'OnDelete' } : { rollingUpdate: { partition } },
    },
    status: {
      observedGeneration: 5,
      updateRevision: 'new',
      updatedReplicas: pods.filter(({ metadata }) => metadata.labels?.['controller-revision-hash'] === 'new').length,
    },
  };
  return { ...emptyView(mergePatch(cluster(pods.length), { status }) as MySQLCluster), statefulSet, pods };
}

function look(of: ClusterView): number | string {
  const { write, requeueAfterMilliseconds } = lowerPartition(of, realPartitionIntervals, now);
  const rollingUpdate = write?.body['spec'] as { updateStrategy: { rollingUpdate: { partition: number } } } | undefined;
  const partition = rollingUpdate?.updateStrategy.rollingUpdate.partition;
  return partition ?? `again in ${requeueAfterMilliseconds}`;
}

const stale = [pod(0, 'old'), pod(1, 'old'), pod(2, 'old')];

describe('test/support/moco: the partition controller', () => {
  it('lowers the partition by one while all members are healthy', () => {
    expect(look(view(3, stale))).to.equal(2);
  });

  it('does nothing under OnDelete, at partition 0 and where a rolling update is forced', () => {
    const forced = { metadata: { annotations: { 'moco.cybozu.com/force-rolling-update': 'true' } } };
    const rolling = view(3, stale);
    expect(look(view(null, stale))).to.equal('again in null');
    expect(look(view(0, stale))).to.equal('again in null');
    expect(look({ ...rolling, statefulSet: mergePatch(rolling.statefulSet, forced) as StatefulSet })).to.equal(
      'again in null',
    );
  });

  it('waits 10 s while the cluster or the StatefulSet is not reconciled at its generation', () => {
    const rolling = view(3, stale);
    const cluster2 = mergePatch(rolling.cluster, { metadata: { generation: 2 } }) as MySQLCluster;
    const set6 = mergePatch(rolling.statefulSet, { metadata: { generation: 6 } }) as StatefulSet;
    expect(look({ ...rolling, cluster: cluster2 })).to.equal('again in 10000');
    expect(look({ ...rolling, statefulSet: set6 })).to.equal('again in 10000');
  });

  it('waits 30 s while another pod has not been ready for 5 s', () => {
    expect(look(view(2, [pod(0, 'old'), pod(1, 'old'), pod(2, 'new', ready('True', aMomentAgo))]))).to.equal(
      'again in 30000',
    );
  });

  it('waits while another pod is terminating, missing, not ready or not updated as it should be', () => {
    const terminating = { metadata: { deletionTimestamp: longAgo } };
    const waits = 'again in 30000';
    expect(look(view(2, [pod(0, 'old', terminating), pod(1, 'old'), pod(2, 'new')]))).to.equal(waits);
    const short = view(2, [pod(0, 'old'), pod(1, 'old'), pod(2, 'new')]);
    expect(look({ ...short, pods: short.pods.slice(1) })).to.equal(waits);
    expect(look(view(2, [pod(0, 'old', ready('False')), pod(1, 'old'), pod(2, 'new')]))).to.equal(waits);
    expect(look(view(2, stale))).to.equal(waits);
  });

  it('waits forever if a low ordinal is broken', () => {
    expect(look(view(3, [pod(0, 'old', ready('False')), pod(1, 'old'), pod(2, 'old')], false))).to.equal(
      'again in 30000',
    );
  });

  it('ignores the health of a cluster whose target is not ready', () => {
    expect(look(view(3, [pod(0, 'old'), pod(1, 'old'), pod(2, 'old', ready('False'))], false))).to.equal(2);
    expect(look(view(3, stale, false))).to.equal('again in 30000');
  });

  it('skips a target that is updated, and all members if all are updated', () => {
    const broken = pod(0, 'old', ready('False'));
    expect(look(view(2, [broken, pod(1, 'new'), pod(2, 'new')], false))).to.equal(1);
    expect(look(view(3, [pod(0, 'new', ready('False')), pod(1, 'new'), pod(2, 'new')], false))).to.equal(2);
  });

  it('sorts names as strings, so that it checks the wrong pod of eleven members', () => {
    const pods = Array.from({ length: 11 }, (_, ordinal) => pod(ordinal, ordinal === 10 ? 'new' : 'old'));
    expect(look(view(10, pods))).to.equal('again in 30000');
  });
});
