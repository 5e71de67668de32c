import { expect } from 'chai';
import type { ClusterView } from '../../../hack/moco/cluster-view.ts';
import type { MySQLCluster, Pod, StatefulSet } from '../../../hack/moco/objects.ts';
import { lowerPartition } from '../../../hack/moco/partition.ts';
import { realPartitionIntervals } from '../../../hack/moco/settings.ts';
import { cluster, emptyView, merge } from './story.ts';

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
  return merge(base, change) as Pod;
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
  return { ...emptyView(merge(cluster(pods.length), { status }) as MySQLCluster), statefulSet, pods };
}

function look(of: ClusterView): number | string {
  const { write, lookAgainAfterMilliseconds } = lowerPartition(of, realPartitionIntervals, now);
  const rollingUpdate = write?.body['spec'] as { updateStrategy: { rollingUpdate: { partition: number } } } | undefined;
  const partition = rollingUpdate?.updateStrategy.rollingUpdate.partition;
  return partition ?? `again in ${lookAgainAfterMilliseconds}`;
}

const stale = [pod(0, 'old'), pod(1, 'old'), pod(2, 'old')];

describe('hack/moco: the partition controller', () => {
  it('lowers the partition by one while everything is well', () => {
    expect(look(view(3, stale))).to.equal(2);
  });

  it('does nothing under OnDelete, at partition 0 and where a rolling update is forced', () => {
    const forced = { metadata: { annotations: { 'moco.cybozu.com/force-rolling-update': 'true' } } };
    const rolling = view(3, stale);
    expect(look(view(null, stale))).to.equal('again in null');
    expect(look(view(0, stale))).to.equal('again in null');
    expect(look({ ...rolling, statefulSet: merge(rolling.statefulSet, forced) as StatefulSet })).to.equal(
      'again in null',
    );
  });

  it('waits 10 s while the cluster or the StatefulSet is not reconciled at its generation', () => {
    const rolling = view(3, stale);
    const cluster2 = merge(rolling.cluster, { metadata: { generation: 2 } }) as MySQLCluster;
    const set6 = merge(rolling.statefulSet, { metadata: { generation: 6 } }) as StatefulSet;
    expect(look({ ...rolling, cluster: cluster2 })).to.equal('again in 10000');
    expect(look({ ...rolling, statefulSet: set6 })).to.equal('again in 10000');
  });

  it('waits 30 s while another pod has not been ready for 5 s', () => {
    expect(look(view(2, [pod(0, 'old'), pod(1, 'old'), pod(2, 'new', ready('True', aMomentAgo))]))).to.equal(
      'again in 30000',
    );
  });

  it('waits while another pod is leaving, missing, not ready or not updated though it should be', () => {
    const leaving = { metadata: { deletionTimestamp: longAgo } };
    const waits = 'again in 30000';
    expect(look(view(2, [pod(0, 'old', leaving), pod(1, 'old'), pod(2, 'new')]))).to.equal(waits);
    const short = view(2, [pod(0, 'old'), pod(1, 'old'), pod(2, 'new')]);
    expect(look({ ...short, pods: short.pods.slice(1) })).to.equal(waits);
    expect(look(view(2, [pod(0, 'old', ready('False')), pod(1, 'old'), pod(2, 'new')]))).to.equal(waits);
    expect(look(view(2, stale))).to.equal(waits);
  });

  it('waits for ever when a low ordinal is broken', () => {
    expect(look(view(3, [pod(0, 'old', ready('False')), pod(1, 'old'), pod(2, 'old')], false))).to.equal(
      'again in 30000',
    );
  });

  it('asks no health of a cluster whose target is not ready', () => {
    expect(look(view(3, [pod(0, 'old'), pod(1, 'old'), pod(2, 'old', ready('False'))], false))).to.equal(2);
    expect(look(view(3, stale, false))).to.equal('again in 30000');
  });

  it('goes on at once over a target that is updated, and over everything when all are', () => {
    const broken = pod(0, 'old', ready('False'));
    expect(look(view(2, [broken, pod(1, 'new'), pod(2, 'new')], false))).to.equal(1);
    expect(look(view(3, [pod(0, 'new', ready('False')), pod(1, 'new'), pod(2, 'new')], false))).to.equal(2);
  });

  it('sorts names as strings, so that with eleven members it looks at the wrong pod', () => {
    const pods = Array.from({ length: 11 }, (_, ordinal) => pod(ordinal, ordinal === 10 ? 'new' : 'old'));
    expect(look(view(10, pods))).to.equal('again in 30000');
  });
});
