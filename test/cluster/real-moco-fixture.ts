import { startControlPlane } from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';
import { openStage, type Scene, type Shared } from './rollout-fixture.ts';

let shared: Promise<Shared> | null = null;

async function open(): Promise<Shared> {
  const controlPlane = await startControlPlane(admissionPolicyFlags(process.env));
  atEndOfRun(() => controlPlane.stop());
  return openStage(controlPlane, atEndOfRun, { moco: 'real' });
}

/**
 * A control plane with moco-controller 0.36 itself, and one controller, for every file. It starts when a test first needs
 * it. On the control plane of the other files the stand-in for MOCO sees to every namespace. A file that kills
 * moco-controller or the controller starts it again: no other file runs at the same time.
 */
export const realMocoScene: Scene = {
  use: () => () => (shared ??= open()),
  atRest: (cluster) => cluster.isTaken(),
};
