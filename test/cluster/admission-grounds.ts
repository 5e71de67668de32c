import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import type { Stage } from '../support/stage/stage.ts';
import { AppliedClusters } from './applied-clusters.ts';
import { type Installed, sharedInstallation } from './moco-fixture.ts';
import { type AdmissionWay, admissionBy, type OnDeleteAdmission } from './on-delete-admission.ts';
import { withPolicy } from './real-moco-admission.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { sharedFlags } from './rollout-fixture.ts';
import type { Configuration } from './webhook-fixture.ts';

/** Whose webhook decides about partitions. */
export interface Ground {
  readonly open: () => Promise<Pick<Installed, 'controlPlane' | 'client'> & Partial<Pick<Stage, 'nodes'>>>;
  /** What of ours is registered as well. */
  readonly registered: readonly Configuration[];
  /** What of the two is tried there. */
  readonly ways: readonly AdmissionWay[];
  /** Leaves everything as it was found. */
  readonly leave: () => Promise<void>;
}

const realStage = async (): Promise<Stage> => (await realMocoScene.use()()).stage;
const nothing = async (): Promise<void> => undefined;

/**
 * The same tables hold for both: the stand-in is compared with what it stands for, by the policy alone. How the webhook of
 * MOCO and our own follow each other is asked of the real one.
 */
export const mocoGrounds: Readonly<Record<string, Ground>> = {
  'the stand-in’s webhook': {
    open: () => sharedInstallation(true),
    registered: [],
    ways: ['policy'],
    leave: nothing,
  },
  'the webhook of moco-controller 0.36': {
    open: async () => {
      const stage = await realStage();
      await Promise.all(stage.controllers.map((controller) => controller.stop('SIGKILL')));
      return stage;
    },
    registered: [],
    ways: ['policy', 'webhook'],
    leave: async () => {
      const stage = await realStage();
      await withPolicy(stage.client);
      await stage.startController(sharedFlags);
    },
  },
};

export const ownGround: Readonly<Record<string, Ground>> = {
  'our webhook for partitions in place of MOCO’s': {
    open: () => sharedInstallation(false),
    registered: ['partition-driver'],
    ways: ['policy', 'webhook'],
    leave: nothing,
  },
};

/** A ground with one of the two that keep StatefulSets at OnDelete. */
export interface Here {
  readonly controlPlane: ControlPlane;
  readonly ours: OnDeleteAdmission;
  readonly clusters: AppliedClusters;
  leave(): Promise<void>;
}

export async function standOn({ open, registered, leave }: Ground, way: AdmissionWay): Promise<Here> {
  const { controlPlane, client, nodes } = await open();
  const ours = await admissionBy(way, { controlPlane, client });
  await ours.webhook.register(...registered);
  return {
    controlPlane,
    ours,
    clusters: new AppliedClusters(client, nodes),
    leave: async () => {
      await ours.stop();
      await leave();
    },
  };
}
