import { expect } from 'chai';
import { newImage, primaryDies, programGone, reconciles, useAdoptedCluster } from '../cluster/moco-without-program.ts';
import { withAbsentWebhook } from '../cluster/real-moco-admission.ts';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { conditionOf } from '../cluster/rollout-history.ts';
import { until } from '../support/control-plane/until.ts';
import type { Stage } from '../support/stage/stage.ts';

/** Longer than a failover takes. */
const noFailoverMilliseconds = 20_000;

describe('moco-controller 0.36, beside an unavailable webhook that fails closed', () => {
  const { stage, cluster: adopted } = useAdoptedCluster();

  it('neither reconciles nor fails over, which is why ours has Ignore', async () => {
    const cluster = adopted();
    await programGone(stage(), cluster, () => withAbsentWebhook(stage().client, 'Fail'));
    await cluster.setImage(newImage);
    await cluster.until('the reconcile fails', ({ cluster: now }) => {
      return conditionOf(now, 'ReconcileSuccess')?.status === 'False';
    });
    await until('the API server refuses the write of the StatefulSet', async () => {
      const refusals = await statefulSetRefusals(stage(), cluster);
      return refusals.some((message) => message.includes('failed calling webhook "statefulset.moco-rollout.io"'));
    });
    const { index, failover } = await primaryDies(cluster, noFailoverMilliseconds);
    expect(await failover, 'the primary after a while').to.equal(index);
    expect(cluster.now.budgets, 'the budget').to.deep.equal([]);

    await withAbsentWebhook(stage().client, 'Ignore');
    await cluster.annotate('example.com/look', 'again');
    await reconciles(cluster);
    await cluster.until('the primary fails over', ({ cluster: now }) => now?.status?.currentPrimaryIndex !== index);
  });
});

/** What moco-controller was answered whose writes of the cluster's StatefulSet failed. */
async function statefulSetRefusals({ controlPlane }: Stage, { namespace }: RolloutCluster): Promise<readonly string[]> {
  const audit = await controlPlane.audit();
  return audit.flatMap(({ user, objectRef, responseStatus }) => {
    const isMocos = user.username === 'moco-controller' && objectRef?.namespace === namespace;
    const failed = isMocos && objectRef.resource === 'statefulsets' && (responseStatus?.code ?? 0) >= 500;
    return failed ? [responseStatus?.message ?? ''] : [];
  });
}
