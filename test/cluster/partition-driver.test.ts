import { expect } from 'chai';
import { statefulSets } from '../../src/kube/resource.ts';
import type { Pod, StatefulSet } from '../support/moco/objects.ts';
import { judged, ownScene, sharedFlags, useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';
import { imageOf } from './rollout-members.ts';

const isWaiting = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ state }) => state?.waiting !== undefined) ?? false;

const gateOff = ['--feature-gates=UpdateStrategyOnDelete=false'];
const byOwnPartitions = ownScene({ partitionDriver: 'own' }, gateOff, (cluster) => cluster.isByPartitions());

describe('a rollout by this program’s partitions, without MOCO’s partition controller', () => {
  const { stage, newCluster } = useRollouts(byOwnPartitions);

  it('updates members that have never started to a corrected image', async () => {
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.appear({ image: 'mysql:8.4.8-missing' });
      for (const ordinal of [0, 1, 2]) await cluster.pod(ordinal, 'can not be started', isWaiting);
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
      expect(cluster.now.pods.map(imageOf)).to.deep.equal(Array(3).fill('mysql:8.4.9'));
    });
  });

  it('begins at partition = replicas, waits while no controller runs, and then replaces one member after the other', async () => {
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isByPartitions();
      const [, first] = cluster.versions(statefulSets)[0] ?? [];
      expect((first as StatefulSet | undefined)?.spec.updateStrategy?.rollingUpdate).to.deep.equal({ partition: 3 });
      await cluster.begin();
      await Promise.all(stage().controllers.map((controller) => controller.stop('SIGKILL')));
      await cluster.setImage('mysql:8.4.9');
      await cluster.until('MOCO’s new template is refused', ({ cluster: now }) => {
        return conditionOf(now, 'ReconcileSuccess')?.status === 'False';
      });
      expect(cluster.now.pods.map(imageOf)).to.deep.equal(Array(3).fill('mysql:8.4.8'));
      await stage().startController([...sharedFlags, ...gateOff]);
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['setPartition 2', 'setPartition 1', 'setPartition 0']);
      expect(cluster.fewestInPlace()).to.equal(2);
      await cluster.event('PartitionUpdate');
      expect(cluster.now.rollout?.status?.strategy).to.equal('Partition');
    });
  });
});
