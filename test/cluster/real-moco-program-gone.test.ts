import { expect } from 'chai';
import { patienceMilliseconds } from '../support/patience.ts';
import { newImage, primaryDies, programGone, reconciles, useAdoptedCluster } from './moco-without-program.ts';
import { withPolicy } from './real-moco-admission.ts';
import { judged } from './rollout-fixture.ts';

// Without the policy: real-moco-objects.test.ts and, with an absent webhook, soak/webhook-fails-closed.test.ts.
describe('moco-controller 0.36, restarted while this program is down', () => {
  const { stage, cluster: adopted } = useAdoptedCluster();

  it('reconciles, fails over and keeps OnDelete with the admission policy', async () => {
    const cluster = adopted();
    await judged(cluster, async () => {
      await programGone(stage(), cluster, () => withPolicy(stage().client));
      await cluster.setImage(newImage);
      await reconciles(cluster);
      expect(cluster.now.statefulSet?.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
      const { index, failover } = await primaryDies(cluster, patienceMilliseconds);
      expect(await failover, 'the primary after a failover').to.not.equal(index);
    });
  });
});
