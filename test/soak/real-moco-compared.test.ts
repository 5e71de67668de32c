import { expect } from 'chai';
import { strategyLabel } from '../../src/moco/names.ts';
import { realMocoScene } from '../cluster/real-moco-fixture.ts';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { judged, useRollouts } from '../cluster/rollout-fixture.ts';
import { conditionOf } from '../cluster/rollout-history.ts';
import { imageOf, isReady } from '../cluster/rollout-members.ts';
import { wholeRollout } from '../cluster/rollout-story.ts';

const newImage = 'mysql:8.4.9';

/** Plays something with a new cluster. Resolves to what has to be the same beside both. */
type Play = (cluster: RolloutCluster) => Promise<unknown>;

/** Each on two control planes, one with each; what is expected of both is said once, the rest is compared. */
const plays: Readonly<Record<string, Play>> = {
  'adoption, a rollout with one switchover, and volumes that grow afterwards': async (cluster) => {
    await cluster.setImage(newImage);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
    expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
    for (const reason of ['Evicted', 'Demoted', 'RevisionPromoted']) await cluster.event(reason);
    await cluster.until('the phase is UpToDate', ({ rollout }) => rollout?.status?.phase === 'UpToDate');
    await isReadyToMoco(cluster);
    const rolledOut = looks(cluster);
    await cluster.begin();
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
    await cluster.patch({ spec: { volumeClaimTemplates: [{ metadata: { name: 'mysql-data' }, spec }] } });
    await cluster.until('every claim has grown', ({ claims }) => {
      return claims.length === 3 && claims.every(({ status }) => status?.capacity?.['storage'] === '2Gi');
    });
    await cluster.isTaken();
    await cluster.completes();
    expect(await cluster.steps(), 'the new StatefulSet is adopted').to.deep.equal(['setStrategy']);
    await isReadyToMoco(cluster);
    expect(cluster.now.pods.every(isReady)).to.equal(true);
    return [rolledOut, looks(cluster)];
  },

  'a release in the middle of a rollout, which MOCO’s partitions finish, and another adoption': async (cluster) => {
    await cluster.setting({ partition: 2 });
    await cluster.setImage(newImage);
    await cluster.holds('PartitionReached');
    await cluster.setting({ strategy: 'Partition' });
    await cluster.until('it is released', ({ statefulSet }) => {
      return statefulSet !== null && statefulSet.metadata.labels?.[strategyLabel] === undefined;
    });
    await cluster.pod(1, 'was updated by MOCO', (pod) => isReady(pod) && imageOf(pod) === newImage);
    await cluster.isByPartitions();
    await cluster.completes();
    const released = looks(cluster);
    await cluster.setting({ strategy: null, partition: null });
    await cluster.isTaken();
    await cluster.completes();
    const steps = await cluster.steps();
    expect(steps.filter((step) => /evict|delete|demote/.test(step))).to.deep.equal(['evict 2']);
    expect(steps.at(-1)).to.equal('setStrategy');
    return [released, looks(cluster)];
  },
};

describe('moco-controller 0.36 and the stand-in for it behave the same:', () => {
  const beside = { 'moco-controller': useRollouts(realMocoScene), 'the stand-in': useRollouts() };
  const played = new Map<string, Promise<readonly unknown[]>>();

  before(() => {
    for (const [title, play] of Object.entries(plays)) {
      const both = Promise.all(
        Object.entries(beside).map(async ([who, { newCluster }]) => {
          const cluster = newCluster();
          let result: unknown;
          await judged(cluster, async () => {
            await cluster.create({});
            await cluster.isTaken();
            await cluster.begin();
            result = await play(cluster);
          }).catch((error: unknown) => {
            throw new Error(`beside ${who}: ${String(error)}`, { cause: error });
          });
          return result;
        }),
      );
      both.catch(() => undefined);
      played.set(title, both);
    }
  });

  for (const title of Object.keys(plays)) {
    it(title, async () => {
      const [real, standIn] = (await played.get(title)) ?? [];
      expect(standIn).to.deep.equal(real);
    });
  }
});

/** MOCO writes that the StatefulSet is ready in a reconciliation of its own, after the rollout is complete. */
const isReadyToMoco = (cluster: RolloutCluster): Promise<unknown> =>
  cluster.until(
    'MOCO calls the StatefulSet ready',
    ({ cluster: now }) => conditionOf(now, 'StatefulSetReady')?.status === 'True',
  );

/** What MOCO and Kubernetes have made of the cluster, without names and times. */
function looks({ now: { cluster, statefulSet, pods, claims, budgets } }: RolloutCluster): object {
  const { replicas, updateStrategy, volumeClaimTemplates } = statefulSet?.spec ?? {};
  return {
    primary: cluster?.status?.currentPrimaryIndex,
    conditions: ['Initialized', 'Available', 'Healthy', 'StatefulSetReady', 'ReconcileSuccess'].map((type) => [
      type,
      conditionOf(cluster, type)?.status,
    ]),
    replicas,
    updateStrategy,
    volumes: volumeClaimTemplates?.map(({ spec }) => spec.resources?.requests),
    claims: claims.map(({ spec }) => spec.resources?.requests),
    images: pods.map(imageOf),
    budgets: budgets.map(({ spec }) => spec.maxUnavailable),
  };
}
