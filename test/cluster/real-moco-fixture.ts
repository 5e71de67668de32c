import { startControlPlane } from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { openStage, type Scene, type Shared } from './rollout-fixture.ts';

/** The first time moco-controller is built, and on a slow machine the control plane too. */
export const realMocoStartMilliseconds = 30 * 60_000;

let shared: Promise<Shared> | null = null;

/**
 * The one control plane with moco-controller itself, and one controller, for every file that asks. On the control plane
 * of the other files the stand-in for MOCO sees to every namespace.
 */
function besideRealMoco(): Promise<Shared> {
  shared ??= (async () => {
    const controlPlane = await startControlPlane(admissionPolicyFlags(process.env));
    atEndOfRun(() => controlPlane.stop());
    return openStage(controlPlane, atEndOfRun, { moco: 'real' });
  })();
  return shared;
}

/** Clusters of moco-controller 0.36 itself, under OnDelete. */
export const realMocoScene: Scene = {
  use: () => besideRealMoco,
  atRest: (cluster: RolloutCluster) => cluster.isTaken(),
  startDeadlineMilliseconds: realMocoStartMilliseconds,
};
