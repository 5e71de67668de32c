import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { isReady, isUpdated } from './rollout-members.ts';

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
  });
});

const messagesOf = (cluster: RolloutCluster): readonly (string | undefined)[] =>
  cluster
    .versions(rolloutKind)
    .map(([, object]) => (object as { status?: { hold?: { message?: string } } }).status?.hold?.message);
