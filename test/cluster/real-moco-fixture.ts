import { startControlPlane } from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { openStage, type Scene, type Shared } from './rollout-fixture.ts';

/** A control plane with moco-controller 0.36 itself, and one controller. It starts when a test first needs it. */
export function newRealMocoScene(): Scene {
  let shared: Promise<Shared> | null = null;
  const open = async (): Promise<Shared> => {
    const controlPlane = await startControlPlane(admissionPolicyFlags(process.env));
    atEndOfRun(() => controlPlane.stop());
    return openStage(controlPlane, atEndOfRun, { moco: 'real' });
  };
  return {
    use: () => () => (shared ??= open()),
    atRest: (cluster: RolloutCluster) => cluster.isTaken(),
  };
}

/**
 * The one of every file that does not kill moco-controller. On the control plane of the other files the stand-in for
 * MOCO sees to every namespace.
 */
export const realMocoScene: Scene = newRealMocoScene();
