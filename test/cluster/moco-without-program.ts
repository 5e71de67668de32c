import { expect } from 'chai';
import { podDisruptionBudgets } from '../../src/kube/resource.ts';
import { mysqldContainer, strategyLabel } from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import type { MySQLCluster, Pod } from '../support/moco/objects.ts';
import type { Stage } from '../support/stage/stage.ts';
import { withPolicy } from './real-moco-admission.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { sharedFlags, useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';
import { imageOf } from './rollout-members.ts';

// What moco-controller does with an adopted cluster while this program is gone.

export const newImage = 'mysql:8.4.9';

interface AdoptedCluster {
  readonly stage: () => Stage;
  /** A new one for each test. */
  readonly cluster: () => RolloutCluster;
}

/** For use in a `describe`: before each test the program runs and has adopted a cluster beside moco-controller. */
export function useAdoptedCluster(): AdoptedCluster {
  const { stage, newCluster } = useRollouts(realMocoScene);
  let cluster: RolloutCluster | null = null;

  beforeEach(async () => {
    await programBack();
    const made = newCluster();
    await made.create({});
    await made.isTaken();
    await made.begin();
    cluster = made;
  });

  after(async () => {
    await programBack();
  });

  async function programBack(): Promise<void> {
    if (stage().controllers.length > 0) return;
    await withPolicy(stage().client);
    await stage().startController(sharedFlags);
  }

  return {
    stage,
    cluster: () => {
      if (cluster === null) throw new Error('Expected the cluster to be used in a test, it was before');
      return cluster;
    },
  };
}

/** This program ends, moco-controller ends, somebody deletes the budget, and moco-controller comes back. */
export async function programGone(
  stage: Stage,
  cluster: RolloutCluster,
  admission: () => Promise<void>,
): Promise<void> {
  await Promise.all(stage.controllers.map((controller) => controller.stop('SIGKILL')));
  await admission();
  expect(cluster.now.statefulSet?.metadata.labels).to.have.property(strategyLabel, 'OnDelete');
  await stage.moco.pause();
  await cluster.remove(podDisruptionBudgets, `moco-${cluster.name}`);
  await stage.moco.resume();
}

/** All of a reconcile that comes after the write of the StatefulSet. */
export async function reconciles(cluster: RolloutCluster): Promise<void> {
  await cluster.until('MOCO reconciles the new generation', ({ cluster: now }) => {
    const condition = conditionOf(now, 'ReconcileSuccess');
    return condition?.status === 'True' && condition.observedGeneration === now?.metadata.generation;
  });
  await cluster.until('MOCO writes the template', ({ statefulSet }) => imageOf(statefulSet) === newImage);
  await cluster.until('MOCO writes the budget', ({ budgets }) => budgets.length === 1);
}

/** Resolves to who was primary, and to who is as soon as that changes or after some time. */
export async function primaryDies(
  cluster: RolloutCluster,
  milliseconds: number,
): Promise<{ readonly index: number; readonly failover: Promise<number | undefined> }> {
  const primary = ({ cluster: now }: { readonly cluster: MySQLCluster | null }): number | undefined =>
    now?.status?.currentPrimaryIndex;
  const index = primary(cluster.now) ?? 0;
  cluster.breakContainer(index, mysqldContainer, 'dead');
  await cluster.pod(index, 'has lost its mysqld', (pod) => !isRunning(pod));
  const moved = until('the primary moves', () => primary(cluster.now) !== index, { milliseconds });
  return { index, failover: moved.catch(() => undefined).then(() => primary(cluster.now)) };
}

const isRunning = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ name, state }) => name === mysqldContainer && state?.running !== undefined) ??
  false;
