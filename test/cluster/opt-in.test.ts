import { expect } from 'chai';
import { installAdmissionPolicy, removeAdmissionPolicy } from '../../hack/stage/admission-policy.ts';
import { isKeptOnDelete } from '../../hack/stage/kept-on-delete.ts';
import { policyKind } from '../../src/controller/policy-resource.ts';
import { strategyLabel } from '../../src/moco/names.ts';
import { until } from './moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, ownScene, scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

/** MOCO's own order of things, sooner. */
const soon = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };

describe('clusters that come to OnDelete one after the other', () => {
  const { scenario, stage, newCluster } = useRollouts(
    ownScene({ partition: soon }, ['--default-strategy=Partition'], (cluster) => cluster.isByPartitions()),
  );

  /** Makes clusters that MOCO's partitions are for, then tells their story from there. */
  async function clusters(count: number): Promise<readonly RolloutCluster[]> {
    const made = Array.from({ length: count }, newCluster);
    await Promise.all(
      made.map(async (cluster) => {
        await cluster.create({});
        await cluster.isByPartitions();
        await cluster.begin();
      }),
    );
    return made;
  }

  async function policy(name: string, spec: object | null): Promise<void> {
    const { client } = stage();
    if (spec === null) return void (await client.remove(policyKind, { name }, {}, { lane: 'disrupt' }));
    const { group, version, kind } = policyKind;
    const body = { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec };
    await client.create(policyKind, {}, body, { lane: 'disrupt' });
  }

  /** MOCO rolls a new image out, and neither admission nor the controller has a hand in it. */
  async function isLeftAlone(cluster: RolloutCluster, image: string): Promise<void> {
    await cluster.setImage(image);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal([]);
    expect(await cluster.askedOf('.moco-rollout.io')).to.deep.equal([]);
    expect(cluster.now.statefulSet?.metadata.labels).not.to.have.property(strategyLabel);
    expect(cluster.now.rollout?.status?.strategy).to.equal('MOCO');
  }

  it('by a wish for one, a policy for a namespace, and one for all, and go back the same way', async function oneByOne() {
    this.timeout(2 * scenarioDeadlineMilliseconds);
    const [one, inNamespace, other] = (await clusters(3)) as [RolloutCluster, RolloutCluster, RolloutCluster];
    await judged(one, async () => {
      await one.wish({ strategy: 'OnDelete' });
      await one.isTaken();
      await one.setImage('mysql:8.4.9');
      await Promise.all([one.completes(), isLeftAlone(inNamespace, 'mysql:8.4.9')]);
      expect(await one.steps()).to.include.members(['setStrategy', 'evict 2', 'evict 1']);
      expect(one.now.rollout?.status?.strategy).to.equal('OnDelete');
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': inNamespace.namespace } };
      await policy('namespace', { strategy: 'OnDelete', namespaceSelector, weight: 1 });
      await inNamespace.isTaken();
      expect(inNamespace.now.rollout?.status?.strategy).to.equal('OnDelete');
      await isLeftAlone(other, 'mysql:8.4.9');
      await policy('all', { strategy: 'OnDelete' });
      await other.isTaken();
      expect(other.now.rollout?.status?.strategy).to.equal('OnDelete');

      await policy('all', null);
      await other.isByPartitions();
      await policy('namespace', null);
      await inNamespace.isByPartitions();
      expect(one.now.rollout?.status?.strategy).to.equal('OnDelete');
      await one.wish({ strategy: null });
      await one.isByPartitions();
      for (const cluster of [one, inNamespace, other]) {
        expect(cluster.now.rollout?.status?.strategy).to.equal('MOCO');
        expect(cluster.fewestInPlace()).to.be.at.least(2);
      }
    });
  });

  it('are not adopted while admission is not in force, and it is said what came back', async function notInForce() {
    this.timeout(scenarioDeadlineMilliseconds);
    const [cluster] = (await clusters(1)) as [RolloutCluster];
    await judged(cluster, async () => {
      await admission(false);
      await cluster.begin();
      await cluster.wish({ strategy: 'OnDelete' });
      await cluster.holds('AdmissionNotInForce');
      expect(cluster.now.rollout?.status?.hold?.message).to.match(/a dry run .* was refused: .*only allowed for/);
      expect(await cluster.steps()).to.deep.equal([]);
      expect(cluster.now.statefulSet?.metadata.labels).not.to.have.property(strategyLabel);
      await admission(true);
      await cluster.isTaken();
      expect(await cluster.steps()).to.deep.equal(['setStrategy']);
    });
  });

  it('are adopted while they are paused: a pause never leaves pods to another program', async function paused() {
    this.timeout(scenarioDeadlineMilliseconds);
    const [cluster] = (await clusters(1)) as [RolloutCluster];
    await judged(cluster, async () => {
      await cluster.begin();
      await cluster.wish({ strategy: 'OnDelete', paused: true });
      await cluster.isTaken();
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('Paused');
      expect(await cluster.steps()).to.deep.equal(['setStrategy']);
    });
  });

  it('go on by MOCO’s partitions where admission is taken away in the middle of a rollout, and are adopted again', async function inTheMiddle() {
    this.timeout(2 * scenarioDeadlineMilliseconds);
    const [cluster] = (await clusters(1)) as [RolloutCluster];
    await judged(cluster, async () => {
      await cluster.wish({ strategy: 'OnDelete', partition: 2 });
      await cluster.isTaken();
      await cluster.begin();
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('PartitionReached');
      await admission(false);
      await cluster.annotate('example.com/look', 'again');
      await cluster.until('MOCO’s next write brings its own strategy', ({ statefulSet }) => {
        return statefulSet?.spec.updateStrategy?.type === 'RollingUpdate';
      });
      await cluster.until('the hold says what is wrong', ({ rollout }) => {
        return rollout?.status?.hold?.rule === 'AdmissionNotInForce';
      });
      await cluster.until('MOCO has replaced the others', ({ pods }) => {
        return pods.length === 3 && pods.every((pod) => isReady(pod) && imageOf(pod) === 'mysql:8.4.9');
      });
      expect(await cluster.steps()).to.deep.equal(['evict 2']);
      await admission(true);
      await cluster.isTaken();
      expect(await cluster.steps()).to.include.members(['evict 2', 'setStrategy']);
    });
  });

  /** The policy and its binding are there, or are not, and the API server acts by it. */
  async function admission(wanted: boolean): Promise<void> {
    const { client } = stage();
    await (wanted ? installAdmissionPolicy(client) : removeAdmissionPolicy(client));
    await until('the API server has noticed', async () => (await isKeptOnDelete(client)) === wanted);
  }

  scenario(
    'go on with whatever is stale where MOCO’s partitions were in the middle of a rollout',
    {},
    async (cluster) => {
      cluster.neverSchedule(1);
      await cluster.setImage('mysql:8.4.9');
      const second = await cluster.pod(2, 'was taken by MOCO', (pod) => isReady(pod) && imageOf(pod) === 'mysql:8.4.9');
      await cluster.pod(1, 'was taken by MOCO and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.9');
      await cluster.wish({ strategy: 'OnDelete' });
      await cluster.until('the StatefulSet is at OnDelete', ({ statefulSet }) => {
        return statefulSet?.spec.updateStrategy?.type === 'OnDelete';
      });
      expect(await cluster.steps()).to.deep.equal(['setStrategy']);
      cluster.heal(1);
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['setStrategy', 'demote 0', 'evict 0', 'promoteRevision']);
      const { uid } = second.metadata;
      expect(cluster.now.pods[2]?.metadata.uid, 'who is updated stays').to.equal(uid);
    },
  );
});
