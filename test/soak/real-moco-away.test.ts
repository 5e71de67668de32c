import { expect } from 'chai';
import { realMocoScene } from '../cluster/real-moco-fixture.ts';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { useRollouts } from '../cluster/rollout-fixture.ts';

const newImage = 'mysql:8.4.9';

describe('while moco-controller 0.36 is away', () => {
  const { stage, scenario } = useRollouts(realMocoScene);

  // A rollout that rests at the current revision would stop earlier: MOCO's webhook for StatefulSets is away as well.
  scenario('no working member is evicted, and the rollout continues once it is back', {}, async (cluster) => {
    await cluster.setting({ minReadySeconds: 60 });
    await cluster.setImage(newImage);
    await cluster.until(
      'a member participates at the new revision, and MOCO has said so',
      ({ cluster: moco, statefulSet, rollout }) => {
        const { currentRevision, updateRevision } = statefulSet?.status ?? {};
        const isNew = currentRevision !== updateRevision && rollout?.status?.updateRevision === updateRevision;
        const isHealthy = moco?.status?.conditions?.some(({ type, status }) => type === 'Healthy' && status === 'True');
        return (
          isNew &&
          isHealthy &&
          rollout?.status?.members?.some(({ updated, state }) => updated && state === 'participating')
        );
      },
    );
    const before = uidsOf(cluster);
    await stage().moco.pause();
    await cluster.holds('MocoUnavailable');
    expect(cluster.now.rollout?.status?.hold?.message).to.match(/ is not renewing its Lease moco-system\/moco, which /);
    expect(uidsOf(cluster)).to.deep.equal(before);
    await stage().moco.resume();
    await cluster.setting({ minReadySeconds: 0 });
    await cluster.completes();
  });
});

const uidsOf = (cluster: RolloutCluster): readonly string[] =>
  cluster.now.pods.map(({ metadata }) => metadata.uid).toSorted();
