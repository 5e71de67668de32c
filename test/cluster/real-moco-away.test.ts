import { expect } from 'chai';
import { startControlPlane } from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { openStage, type Scene, type Shared, useRollouts } from './rollout-fixture.ts';

const newImage = 'mysql:8.4.9';
/** The Lease lasts 15 s and counts for 15 s more; a new moco-controller waits for its end. */
const patienceMilliseconds = 240_000;

let own: Promise<Shared> | null = null;
/** Not the control plane of the other files, since moco-controller is killed. */
const ownScene: Scene = {
  ...realMocoScene,
  use: () => () =>
    (own ??= (async () => {
      const controlPlane = await startControlPlane(admissionPolicyFlags(process.env));
      atEndOfRun(() => controlPlane.stop());
      return openStage(controlPlane, atEndOfRun, { moco: 'real' });
    })()),
};

// A member that is stopped comes back only if moco-controller configures it.
describe('while moco-controller 0.36 is away', () => {
  const { stage, scenario } = useRollouts(ownScene);

  // A rollout that rests at the current revision would stop earlier: MOCO's webhook for StatefulSets is away as well.
  scenario('no working member is evicted, and the rollout goes on once it is back', {}, async (cluster) => {
    cluster.patientFor(patienceMilliseconds);
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
    expect(cluster.now.rollout?.status?.hold?.message).to.match(/ does not renew its Lease moco-system\/moco, which /);
    expect(uidsOf(cluster)).to.deep.equal(before);
    await stage().moco.resume();
    await cluster.setting({ minReadySeconds: 0 });
    await cluster.completes();
  });
});

const uidsOf = (cluster: RolloutCluster): readonly string[] =>
  cluster.now.pods.map(({ metadata }) => metadata.uid).toSorted();
