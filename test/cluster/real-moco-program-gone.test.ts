import { expect } from 'chai';
import { failsOver, isRunning, newImage, programGone, reconciles, useAdoptedCluster } from './moco-without-program.ts';
import { withAbsentWebhook, withPolicy } from './real-moco-admission.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged } from './rollout-fixture.ts';
import { imageOf } from './rollout-members.ts';

describe('moco-controller 0.36, restarted while this program is down', () => {
  const { stage, cluster: adopted, programBack } = useAdoptedCluster();

  it('reconciles, fails over and keeps OnDelete with the admission policy', async () => {
    const cluster = adopted();
    await judged(cluster, async () => {
      await programGone(stage(), cluster, () => withPolicy(stage().client));
      await cluster.setImage(newImage);
      await reconciles(cluster);
      expect(cluster.now.statefulSet?.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
      await failsOver(cluster);
    });
  });

  it('reconciles, fails over and continues by partitions with an unavailable webhook under Ignore', async () => {
    const cluster = adopted();
    await judged(cluster, async () => {
      await programGone(stage(), cluster, () => withAbsentWebhook(stage().client, 'Ignore'));
      await cluster.setImage(newImage);
      await reconciles(cluster);
      expect(cluster.now.statefulSet?.spec.updateStrategy?.type).to.equal('RollingUpdate');
      await loweredByMoco(cluster);
      await failsOver(cluster);
      cluster.heal(0);
      await programBack();
      await cluster.completes();
      await cluster.isTaken();
    });
  });
});

/** MOCO's partition controller lets Kubernetes replace the first member. */
async function loweredByMoco(cluster: RolloutCluster): Promise<void> {
  await cluster.until('MOCO lowers the partition', ({ statefulSet }) => {
    const { partition = 3 } = statefulSet?.spec.updateStrategy?.rollingUpdate ?? {};
    return partition < 3;
  });
  await cluster.pod(2, 'has the new image and works', (pod) => imageOf(pod) === newImage && isRunning(pod));
}
