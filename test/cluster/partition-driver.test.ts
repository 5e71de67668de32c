import { expect } from 'chai';
import { forceRollingUpdateAnnotation, mysqldContainer } from '../../src/moco/names.ts';
import type { Pod } from '../support/moco/objects.ts';
import { judged, ownScene, useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

const downTo = (partition: number, from: number): readonly string[] =>
  Array.from({ length: from - partition }, (_, index) => `setPartition ${from - 1 - index}`);
const isWaiting = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ state }) => state?.waiting !== undefined) ?? false;

const byOwnPartitions = ownScene(
  { partitionDriver: 'own' },
  ['--feature-gates=UpdateStrategyOnDelete=false'],
  (cluster) => cluster.isByPartitions(),
);

describe('a rollout by this program’s partitions, without MOCO’s partition controller', () => {
  const { scenario, newCluster } = useRollouts(byOwnPartitions);

  scenario('takes one member after the other, from the highest ordinal down', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(downTo(0, 3));
    expect(cluster.fewestInPlace()).to.equal(2);
    await cluster.event('PartitionUpdate');
    expect(cluster.now.rollout?.status?.strategy).to.equal('Partition');
  });

  scenario('counts ordinals as numbers, not as words', { replicas: 11 }, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(downTo(0, 11));
    expect(cluster.fewestInPlace()).to.equal(10);
  });

  scenario('scales first where the template and the replicas change together', {}, async (cluster) => {
    const containers = [{ name: mysqldContainer, image: 'mysql:8.4.9' }];
    await cluster.patch({ spec: { replicas: 5, podTemplate: { spec: { containers } } } });
    await cluster.pod(4, 'is there before anything is updated', isReady);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(downTo(0, 5));
    expect(cluster.now.pods).to.have.length(5);
  });

  scenario('halts at a bad image where it is, and goes on by itself when it is corrected', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9-missing');
    await cluster.holds('UpdateRevisionFailing');
    expect(cluster.now.pods.filter(isReady)).to.have.length(2);
    expect(await cluster.steps()).to.deep.equal(['setPartition 2']);
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['setPartition 2', ...downTo(0, 3)]);
  });

  scenario('says which command helps where the broken member is not the next one', {}, async (cluster) => {
    cluster.breakContainer(1, mysqldContainer, 'dead');
    await cluster.pod(1, 'is down', isWaiting);
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('MemberDownOutOfOrder');
    expect(await cluster.steps()).to.deep.equal([]);
    const message = cluster.now.rollout?.status?.hold?.message ?? '';
    const [, command = ''] = /`kubectl ([^`]*)`/.exec(message) ?? [];
    expect(command).to.equal('delete pod moco-x-1');
    await cluster.kubectl(...command.split(' '));
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(downTo(0, 3));
  });

  scenario('steps aside while the user forces a rolling update, and comes back', {}, async (cluster) => {
    cluster.neverSchedule(1);
    await cluster.setImage('mysql:8.4.9');
    await cluster.pod(2, 'is new', (pod) => isReady(pod) && imageOf(pod) === 'mysql:8.4.9');
    await cluster.annotate(forceRollingUpdateAnnotation, 'true');
    await cluster.pod(1, 'was taken by Kubernetes itself', (pod) => imageOf(pod) === 'mysql:8.4.9');
    await cluster.holds('ForcedRollingUpdate');
    await cluster.annotate(forceRollingUpdateAnnotation, null);
    cluster.heal(1);
    await cluster.completes();
    expect((await cluster.steps()).at(-1)).to.equal('setPartition 0');
  });

  scenario(
    'waits while a backup runs, which MOCO’s own partitions do not',
    { spec: { backupPolicyName: 'daily' } },
    async (cluster) => {
      await cluster.startBackup();
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('BackupRunning');
      expect(await cluster.steps()).to.deep.equal([]);
      await cluster.endBackup();
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(downTo(0, 3));
    },
  );

  it('updates members that have never started to a corrected image', async function firstStart() {
    this.timeout(360_000);
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.appear({ image: 'mysql:8.4.8-missing' });
      for (const ordinal of [0, 1, 2]) await cluster.pod(ordinal, 'can not be started', isWaiting);
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
      expect(cluster.now.pods.map(imageOf)).to.deep.equal(Array(3).fill('mysql:8.4.9'));
    });
  });
});
