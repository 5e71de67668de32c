import { expect } from 'chai';
import { statefulSets } from '../../src/kube/resource.ts';
import { newPodsAtCurrentRevision, newPodsLabel } from '../../src/moco/names.ts';
import type { StatefulSet } from '../support/moco/objects.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { useRollouts } from './rollout-fixture.ts';
import type { Moment } from './rollout-history.ts';
import { imageOf, isReady } from './rollout-members.ts';

const oldImage = 'mysql:8.4.8';
const newImage = 'mysql:8.4.9';

describe('new pods at the current revision beside moco-controller 0.36', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario(
    'let a lost member come back at its revision while the rollout is held, whatever MOCO’s partition controller writes',
    {},
    async (cluster) => {
      await cluster.setting({ paused: true });
      await cluster.setImage(newImage);
      await cluster.until('new pods come up at the current revision', ({ statefulSet }) => {
        const { status } = statefulSet ?? {};
        return isKept(statefulSet) && status?.currentRevision !== status?.updateRevision;
      });
      const { pods: before } = cluster.now;
      const known = lowered(cluster.now);
      await cluster.until('MOCO has asked twice for a lower partition', (now) => lowered(now) >= known + 2);
      await cluster.kubectl('delete', 'pod', cluster.podName(1), '--wait=false');
      await cluster.pod(1, 'is back as it was', (pod) => {
        return pod.metadata.uid !== before[1]?.metadata.uid && isReady(pod) && imageOf(pod) === oldImage;
      });
      const { pods, statefulSet } = cluster.now;
      expect(pods.map(imageOf)).to.deep.equal(Array(3).fill(oldImage));
      for (const ordinal of [0, 2]) {
        expect(pods[ordinal]?.metadata.uid).to.equal(before[ordinal]?.metadata.uid);
      }
      expect(isKept(statefulSet)).to.equal(true);
      const partitions = cluster
        .versions(statefulSets)
        .map(([, object]) => object as StatefulSet)
        .filter(({ metadata }) => metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision)
        .map(({ spec }) => spec.updateStrategy?.rollingUpdate?.partition);
      expect(new Set(partitions)).to.deep.equal(new Set([3]));
      await cluster.setting({ paused: null });
      await cluster.completes();
      expect(cluster.now.pods.map(imageOf)).to.deep.equal(Array(3).fill(newImage));
      expect(cluster.now.statefulSet?.metadata.labels).not.to.have.property(newPodsLabel);
    },
  );
});

function isKept(statefulSet: StatefulSet | null): boolean {
  const { type, rollingUpdate } = statefulSet?.spec.updateStrategy ?? {};
  const isLabelled = statefulSet?.metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision;
  return isLabelled && type === 'RollingUpdate' && rollingUpdate?.partition === statefulSet?.spec.replicas;
}

/** How often MOCO's partition controller has had a patch carried out that lowers the partition, as it says in its Events. */
function lowered({ events }: Moment): number {
  return events
    .filter(({ reason, regarding }) => reason === 'PartitionUpdate' && regarding.kind === statefulSets.kind)
    .reduce((count, event) => count + ((event as { deprecatedCount?: number }).deprecatedCount ?? 1), 0);
}
