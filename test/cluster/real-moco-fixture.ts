import { startControlPlane } from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { openStage, type Rollouts, type Scene, type Shared, useRollouts } from './rollout-fixture.ts';

/** The first time moco-controller is built, and on a slow machine the control plane too. */
export const realMocoStartMilliseconds = 30 * 60_000;

/** MOCO asks a member that does not answer three times, 3 s apart. */
export const mocoPatienceMilliseconds = 240_000;

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
    startDeadlineMilliseconds: realMocoStartMilliseconds,
  };
}

/**
 * The one of every file that does not kill moco-controller. On the control plane of the other files the stand-in for
 * MOCO sees to every namespace.
 */
export const realMocoScene: Scene = newRealMocoScene();

/** Scenarios that wait as long as the real MOCO may take. */
export function usePatientRollouts(scene: Scene = realMocoScene): Rollouts {
  const rollouts = useRollouts(scene);
  return {
    ...rollouts,
    scenario: (sentence, options, play) =>
      rollouts.scenario(sentence, options, (cluster) => {
        cluster.patientFor(mocoPatienceMilliseconds);
        return play(cluster);
      }),
  };
}
