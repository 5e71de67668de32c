import { expect } from 'chai';
import { namespaces } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

describe('a rollout whose target changes', () => {
  const { scenario, stage, newCluster } = useRollouts();

  scenario('follows a second change of the template in the middle', {}, async (cluster) => {
    cluster.neverSchedule(1);
    await cluster.setImage('mysql:8.4.9');
    await cluster.pod(1, 'is new and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.9');
    await cluster.setImage('mysql:8.4.10');
    await cluster.pod(1, 'waits for a node with the newest image', (pod) => imageOf(pod) === 'mysql:8.4.10');
    cluster.heal(1);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal([
      'evict 2',
      'evict 1',
      'delete 1',
      'evict 2',
      'demote 0',
      'evict 0',
      'promoteRevision',
    ]);
  });

  scenario('is what kubectl rollout restart asks for', {}, async (cluster) => {
    await cluster.kubectl('rollout', 'restart', 'statefulset/moco-x');
    await cluster.until('a new revision is seen', ({ rollout }) => rollout?.status?.rollout !== undefined);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('leaves the StatefulSet so that volumes grow afterwards', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    await cluster.begin();
    const template = { metadata: { name: 'mysql-data' }, spec: storage('2Gi') };
    await cluster.patch({ spec: { volumeClaimTemplates: [template] } });
    await cluster.until(
      'every claim has grown',
      ({ claims }) => claims.length === 3 && claims.every(({ status }) => status?.capacity?.['storage'] === '2Gi'),
    );
    await cluster.isTaken();
    await cluster.completes();
    expect(await cluster.steps(), 'the new StatefulSet is adopted').to.deep.equal(['setStrategy']);
    expect(cluster.now.pods.every(isReady)).to.equal(true);
  });

  scenario('ends with its cluster', {}, async (cluster) => {
    await holdInTheMiddle(cluster);
    await cluster.remove(clusterKind, cluster.name);
    await cluster.until('everything is gone', ({ cluster: object, pods, statefulSet, rollout }) => {
      return object === null && statefulSet === null && rollout === null && pods.length === 0;
    });
    expect(await cluster.steps()).to.deep.equal(['evict 2']);
    await nobodyAsksFor(cluster);
  });

  scenario('ends with its namespace', {}, async (cluster) => {
    await holdInTheMiddle(cluster);
    await stage().client.remove(namespaces, { name: cluster.namespace }, {}, { priority: 'disrupt' });
    await cluster.until('everything is gone', ({ cluster: object, pods, statefulSet, rollout }) => {
      return object === null && statefulSet === null && rollout === null && pods.length === 0;
    });
    expect(await cluster.steps()).to.deep.equal(['evict 2']);
    await nobodyAsksFor(cluster);
  });

  async function holdInTheMiddle(cluster: RolloutCluster): Promise<void> {
    cluster.neverSchedule(2);
    await cluster.setImage('mysql:8.4.9');
    await cluster.pod(2, 'is new and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.9');
  }

  /** While another cluster is rolled out from its creation to its end, the controller sends no request about this one. */
  async function nobodyAsksFor(cluster: RolloutCluster): Promise<void> {
    const other = newCluster();
    await other.create({ replicas: 1 });
    await cluster.begin();
    await other.isTaken();
    await other.setImage('mysql:8.4.9');
    await other.completes();
    expect((await cluster.requests()).map(({ verb, requestURI }) => `${verb} ${requestURI}`)).to.deep.equal([]);
  }
});

function storage(size: string): object {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } };
}
