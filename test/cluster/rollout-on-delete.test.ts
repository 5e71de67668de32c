import { expect } from 'chai';
import { annotationOn, forceRollingUpdateAnnotation, mysqldContainer, strategyLabel } from '../../src/moco/names.ts';
import { useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

describe('a rollout under OnDelete', () => {
  const { scenario } = useRollouts();

  scenario('steps aside while a rolling update is forced, in the middle, and comes back', {}, async (cluster) => {
    await cluster.setting({ partition: 2 });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('PartitionReached');
    await cluster.annotate(forceRollingUpdateAnnotation, annotationOn);
    await cluster.holds('ForcedRollingUpdate');
    await cluster.event('ForcedRollingUpdate');
    for (const ordinal of [1, 0]) {
      await cluster.pod(ordinal, 'was taken by Kubernetes itself', (pod) => {
        return isReady(pod) && imageOf(pod) === 'mysql:8.4.9';
      });
    }
    await cluster.completes();
    const { statefulSet, rollout } = cluster.now;
    expect(statefulSet?.spec.updateStrategy).to.deep.equal({ type: 'RollingUpdate' });
    expect(statefulSet?.metadata.labels).to.have.property(strategyLabel);
    expect(rollout?.status?.phase).to.equal('Off');
    expect(await cluster.steps()).to.deep.equal(['evict 2']);

    await cluster.annotate(forceRollingUpdateAnnotation, null);
    await cluster.isTaken();
    await cluster.begin();
    await cluster.setting({ partition: null });
    await cluster.setImage('mysql:8.4.10');
    await cluster.completes();
    const steps = await cluster.steps();
    expect(steps.filter((step) => step.startsWith('evict'))).to.have.length(3);
    expect(steps.filter((step) => step.startsWith('demote'))).to.have.length(1);
  });

  scenario('scales first where the template and the replicas change together', {}, async (cluster) => {
    const containers = [{ name: mysqldContainer, image: 'mysql:8.4.9' }];
    await cluster.patch({ spec: { replicas: 5, podTemplate: { spec: { containers } } } });
    await cluster.pod(4, 'is there', isReady);
    await cluster.completes();
    expect(cluster.now.pods).to.have.length(5);
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
    const reported = (await cluster.story()).map(({ text }) => text);
    for (const scaled of ['ready 3', 'ready 4']) {
      expect(reported.indexOf(scaled), scaled).to.be.within(0, reported.indexOf('evict 2') - 1);
    }
  });

  scenario('takes members by their numbers, ten before nine', { replicas: 11 }, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    const replicas = Array.from({ length: 10 }, (_, index) => `evict ${10 - index}`);
    expect(await cluster.steps()).to.deep.equal([...replicas, ...wholeRollout.slice(2)]);
    expect(cluster.fewestInPlace()).to.equal(10);
  });
});
