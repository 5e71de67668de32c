import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { mysqldContainer } from '../../src/moco/names.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { isReady, isUpdated } from './rollout-members.ts';

const goodImage = 'mysql:8.4.9';

// What is evidence against a revision, and that it is not forgotten, with the StatefulSet controller and MOCO themselves.
describe('a revision that fails, with moco-controller 0.36', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario('since the node refuses the pod, holds with the reason of the kubelet', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9-refused');
    await cluster.holds('UpdateRevisionFailing');
    await cluster.pod(2, 'is back as what it was', (pod) => isReady(pod) && !isUpdated(cluster, pod));
    const from = messagesOf(cluster).length - 1;
    await cluster.until(
      'the status says so',
      ({ rollout }) => rollout?.status?.members?.[2]?.state === 'participating',
    );
    expect(cluster.now.rollout?.status?.rollout?.failing).to.deep.equal({
      ordinal: 2,
      message: 'the pod has failed: OutOfcpu',
    });
    expect(new Set(messagesOf(cluster).slice(from))).to.have.length(1);
    expect(cluster.now.rollout?.status?.conditions?.find(({ type }) => type === 'Stalled')?.status).to.equal('True');
    expect(cluster.now.pods.filter(isReady)).to.have.length(3);
    await cluster.setImage(goodImage);
    await cluster.completes();
  });

  scenario('in a sidecar, which is named, while mysqld serves', {}, async (cluster) => {
    await withSidecar(cluster, 'pmm:missing');
    const { rollout } = await cluster.until('the revision fails', (moment) =>
      moment.rollout?.status?.hold?.rule === 'UpdateRevisionFailing' ? moment : undefined,
    );
    expect(rollout?.status?.hold?.message).to.match(
      /fails on moco-x-2: container pmm is waiting \((ErrImagePull|ImagePullBackOff)\)/,
    );
    expect(cluster.now.pods.filter((pod) => isUpdated(cluster, pod))).to.have.length(1);
    await withSidecar(cluster, 'pmm:2');
    await cluster.completes();
  });
});

const withSidecar = (cluster: RolloutCluster, image: string): Promise<void> =>
  cluster.patch({
    spec: {
      podTemplate: {
        spec: {
          containers: [
            { name: mysqldContainer, image: goodImage },
            { name: 'pmm', image },
          ],
        },
      },
    },
  });

const messagesOf = (cluster: RolloutCluster): readonly (string | undefined)[] =>
  cluster
    .versions(rolloutKind)
    .map(([, object]) => (object as { status?: { hold?: { message?: string } } }).status?.hold?.message);
