import { expect } from 'chai';
import { podDisruptionBudgets } from '../../src/kube/resource.ts';
import { mysqldContainer, strategyLabel } from '../../src/moco/names.ts';
import type { MySQLCluster, Pod, PodTemplateSpec, StatefulSet } from '../support/moco/objects.ts';
import type { Stage } from '../support/stage/stage.ts';
import { until } from './moco-fixture.ts';
import { withAbsentWebhook, withPolicy } from './real-moco-admission.ts';
import { realMocoScene, realMocoStartMilliseconds } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, sharedFlags, useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';

const newImage = 'mysql:8.4.9';
/** MOCO tries a member three times, 3 s apart, before it calls the cluster failed. */
const failoverMilliseconds = 120_000;
/** Longer than a failover takes. */
const noFailoverMilliseconds = 20_000;
const partitionMilliseconds = 180_000;
/** Within this anything comes that is waited for. */
const patienceMilliseconds = 120_000;
const testMilliseconds = 480_000;

describe('moco-controller 0.36, restarted while this program is down', () => {
  const { stage, newCluster } = useRollouts(realMocoScene);
  let cluster: RolloutCluster;

  beforeEach(async function adoptedCluster() {
    this.timeout(realMocoStartMilliseconds);
    await programBack();
    cluster = newCluster();
    cluster.patientFor(patienceMilliseconds);
    await cluster.create({});
    await cluster.isTaken();
    await cluster.begin();
  });

  after(async function restore() {
    this.timeout(testMilliseconds);
    await programBack();
  });

  async function programBack(): Promise<void> {
    if (stage().controllers.length > 0) return;
    await withPolicy(stage().client);
    await stage().startController(sharedFlags);
  }

  it('reconciles, fails over and keeps OnDelete with the admission policy', async function policy() {
    this.timeout(testMilliseconds);
    await judged(cluster, async () => {
      await programGone(stage(), cluster, () => withPolicy(stage().client));
      await cluster.setImage(newImage);
      await reconciles(cluster);
      expect(cluster.now.statefulSet?.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
      await failsOver(cluster);
    });
  });

  it('reconciles, fails over and continues by partitions with an unavailable webhook under Ignore', async function ignoring() {
    this.timeout(testMilliseconds);
    await judged(cluster, async () => {
      await programGone(stage(), cluster, () => withAbsentWebhook(stage().client, 'Ignore'));
      await cluster.setImage(newImage);
      await reconciles(cluster);
      expect(cluster.now.statefulSet?.spec.updateStrategy?.type).to.equal('RollingUpdate');
      await loweredByMoco(cluster);
      await failsOver(cluster);
      cluster.heal(0);
      await programBack();
      await cluster.completes();
      await cluster.isTaken();
    });
  });

  it('neither reconciles nor fails over with an unavailable webhook under Fail, which is why ours has Ignore', async function failing() {
    this.timeout(testMilliseconds);
    await programGone(stage(), cluster, () => withAbsentWebhook(stage().client, 'Fail'));
    await cluster.setImage(newImage);
    await cluster.until('the reconcile fails', ({ cluster: now }) => {
      return conditionOf(now, 'ReconcileSuccess')?.status === 'False';
    });
    await until('the API server refuses the write of the StatefulSet', async () => {
      const refusals = await statefulSetRefusals(stage(), cluster);
      return refusals.some((message) => message.includes('failed calling webhook "statefulset.moco-rollout.io"'));
    });
    const { index, failover } = await primaryDies(cluster, noFailoverMilliseconds);
    expect(await failover, 'the primary after a while').to.equal(index);
    expect(cluster.now.budgets, 'the budget').to.deep.equal([]);

    await withAbsentWebhook(stage().client, 'Ignore');
    await cluster.annotate('example.com/look', 'again');
    await reconciles(cluster);
    await cluster.until('the primary fails over', ({ cluster: now }) => now?.status?.currentPrimaryIndex !== index);
  });
});

/** This program ends, moco-controller ends, somebody deletes the budget, and moco-controller comes back. */
async function programGone(stage: Stage, cluster: RolloutCluster, admission: () => Promise<void>): Promise<void> {
  await Promise.all(stage.controllers.map((controller) => controller.stop('SIGKILL')));
  await admission();
  expect(cluster.now.statefulSet?.metadata.labels).to.have.property(strategyLabel, 'OnDelete');
  await stage.moco.pause();
  await cluster.remove(podDisruptionBudgets, `moco-${cluster.name}`);
  await stage.moco.resume();
}

/** All of a reconcile that comes after the write of the StatefulSet. */
async function reconciles(cluster: RolloutCluster): Promise<void> {
  await cluster.until('MOCO reconciles the new generation', ({ cluster: now }) => {
    const condition = conditionOf(now, 'ReconcileSuccess');
    return condition?.status === 'True' && condition.observedGeneration === now?.metadata.generation;
  });
  await cluster.until('MOCO writes the template', ({ statefulSet }) => mysqldImage(statefulSet) === newImage);
  await cluster.until('MOCO writes the budget', ({ budgets }) => budgets.length === 1);
}

async function failsOver(cluster: RolloutCluster): Promise<void> {
  const { index, failover } = await primaryDies(cluster, failoverMilliseconds);
  expect(await failover, 'the primary after a failover').to.not.equal(index);
}

/** Resolves to who was primary, and to who is as soon as that changes or after some time. */
async function primaryDies(
  cluster: RolloutCluster,
  milliseconds: number,
): Promise<{ readonly index: number; readonly failover: Promise<number | undefined> }> {
  const primary = ({ cluster: now }: { readonly cluster: MySQLCluster | null }): number | undefined =>
    now?.status?.currentPrimaryIndex;
  const index = primary(cluster.now) ?? 0;
  cluster.breakContainer(index, mysqldContainer, 'dead');
  await cluster.pod(index, 'has lost its mysqld', (pod) => !isRunning(pod));
  const moved = until('the primary moves', async () => primary(cluster.now) !== index, milliseconds);
  return { index, failover: moved.catch(() => undefined).then(() => primary(cluster.now)) };
}

/** What moco-controller was answered whose writes of the cluster's StatefulSet failed. */
async function statefulSetRefusals({ controlPlane }: Stage, { namespace }: RolloutCluster): Promise<readonly string[]> {
  const audit = await controlPlane.audit();
  return audit.flatMap(({ user, objectRef, responseStatus }) => {
    const isMocos = user.username === 'moco-controller' && objectRef?.namespace === namespace;
    const failed = isMocos && objectRef.resource === 'statefulsets' && (responseStatus?.code ?? 0) >= 500;
    return failed ? [responseStatus?.message ?? ''] : [];
  });
}

/** MOCO's partition controller lets Kubernetes replace the first member. */
async function loweredByMoco(cluster: RolloutCluster): Promise<void> {
  cluster.patientFor(partitionMilliseconds);
  await cluster.until('MOCO lowers the partition', ({ statefulSet }) => {
    const { partition = 3 } = statefulSet?.spec.updateStrategy?.rollingUpdate ?? {};
    return partition < 3;
  });
  await cluster.pod(2, 'has the new image and works', (pod) => mysqldImage(pod) === newImage && isRunning(pod));
}

const isRunning = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ name, state }) => name === mysqldContainer && state?.running !== undefined) ??
  false;

function mysqldImage(object: StatefulSet | Pod | null): string | undefined {
  const spec = (object as { spec?: { template?: { spec: PodTemplateSpec } } & Partial<PodTemplateSpec> } | null)?.spec;
  return (spec?.template?.spec ?? spec)?.containers?.find(({ name }) => name === mysqldContainer)?.image;
}
