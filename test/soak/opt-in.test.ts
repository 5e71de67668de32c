import { expect } from 'chai';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { strategyLabel } from '../../src/moco/names.ts';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { judged, ownScene, useRollouts } from '../cluster/rollout-fixture.ts';
import { imageOf, isReady } from '../cluster/rollout-members.ts';

/** MOCO's own order of things, sooner. */
const soon = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };
const byDefault = ['--default-strategy=Partition'];

describe('clusters that are adopted one after the other', () => {
  const { scenario, stage, newCluster } = useRollouts(
    ownScene({ partition: soon }, byDefault, (cluster) => cluster.isByPartitions()),
  );

  /** Makes clusters that MOCO's partitions are for, then tells their story from there. */
  async function clusters(count: number, replicas = 3): Promise<readonly RolloutCluster[]> {
    const made = Array.from({ length: count }, newCluster);
    await Promise.all(
      made.map(async (cluster) => {
        await cluster.create({ replicas });
        await cluster.isByPartitions();
        await cluster.begin();
      }),
    );
    return made;
  }

  async function policy(name: string, spec: object | null): Promise<void> {
    const { client } = stage();
    if (spec === null) return void (await client.remove(policyKind, { name }, {}, { priority: 'disrupt' }));
    const { group, version, kind } = policyKind;
    const body = { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec };
    await client.create(policyKind, {}, body, { priority: 'disrupt' });
  }

  /** A status may be written a second after the step. */
  async function reports(cluster: RolloutCluster, strategy: string): Promise<void> {
    await cluster.until(`the status says ${strategy}`, ({ rollout }) => rollout?.status?.strategy === strategy);
  }

  /** MOCO rolls a new image out, and neither admission nor the controller has a hand in it. */
  async function isLeftAlone(cluster: RolloutCluster, image: string): Promise<void> {
    await cluster.setImage(image);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal([]);
    expect(await cluster.askedOf('.moco-rollout.io')).to.deep.equal([]);
    expect(cluster.now.statefulSet?.metadata.labels).not.to.have.property(strategyLabel);
    await reports(cluster, 'MOCO');
  }

  it('by a setting for one, a policy for a namespace, and one for all, are released the same way', async () => {
    const [one, inNamespace, other] = (await clusters(3, 1)) as [RolloutCluster, RolloutCluster, RolloutCluster];
    await judged(one, async () => {
      await one.setting({ strategy: 'OnDelete' });
      await one.isTaken();
      await one.setImage('mysql:8.4.9');
      await Promise.all([one.completes(), isLeftAlone(inNamespace, 'mysql:8.4.9')]);
      expect(await one.steps()).to.include('evict 0');
      await reports(one, 'OnDelete');
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': inNamespace.namespace } };
      await policy('namespace', { settings: { strategy: 'OnDelete' }, namespaceSelector, priority: 1 });
      await inNamespace.isTaken();
      await reports(inNamespace, 'OnDelete');
      await isLeftAlone(other, 'mysql:8.4.9');
      await policy('all', { settings: { strategy: 'OnDelete' } });
      await other.isTaken();
      await reports(other, 'OnDelete');

      await policy('all', null);
      await other.isByPartitions();
      await policy('namespace', null);
      await inNamespace.isByPartitions();
      await reports(one, 'OnDelete');
      await one.setting({ strategy: null });
      await one.isByPartitions();
      for (const cluster of [one, inNamespace, other]) await reports(cluster, 'MOCO');
    });
  });

  scenario(
    'continue with the stale members if MOCO’s partitions were in the middle of a rollout',
    {},
    async (cluster) => {
      cluster.neverSchedule(1);
      await cluster.setImage('mysql:8.4.9');
      const second = await cluster.pod(2, 'was taken by MOCO', (pod) => isReady(pod) && imageOf(pod) === 'mysql:8.4.9');
      await cluster.pod(1, 'was taken by MOCO and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.9');
      await cluster.setting({ strategy: 'OnDelete' });
      await cluster.until('the StatefulSet is at OnDelete', ({ statefulSet }) => {
        return statefulSet?.spec.updateStrategy?.type === 'OnDelete';
      });
      expect(await cluster.steps()).to.deep.equal([]);
      cluster.heal(1);
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['demote 0', 'evict 0', 'promoteRevision']);
      const { uid } = second.metadata;
      expect(cluster.now.pods[2]?.metadata.uid, 'who is updated stays').to.equal(uid);
    },
  );
});
