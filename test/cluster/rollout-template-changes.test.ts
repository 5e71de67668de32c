import { expect } from 'chai';
import { namespaces } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { imageOf } from './rollout-members.ts';

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

  scenario('ends with its cluster, and with its namespace', {}, async (cluster) => {
    const other = newCluster();
    await other.create({ replicas: 1 });
    await other.isTaken();
    for (const one of [cluster, other]) {
      await one.begin();
      const last = one === cluster ? 2 : 0;
      one.neverSchedule(last);
      await one.setImage('mysql:8.4.9');
      await one.pod(last, 'is new and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.9');
    }
    await cluster.remove(clusterKind, cluster.name);
    await stage().client.remove(namespaces, { name: other.namespace }, {}, { priority: 'disrupt' });
    for (const one of [cluster, other]) {
      await one.until('everything is gone', ({ cluster: object, pods, statefulSet, rollout }) => {
        return object === null && statefulSet === null && rollout === null && pods.length === 0;
      });
    }
    expect(await cluster.steps()).to.deep.equal(['evict 2']);
    expect(await other.steps()).to.deep.equal(['evict 0']);
    await nobodyAsksFor([cluster, other]);
  });

  /** While another cluster is rolled out from its creation to its end, the controller sends no request about these. */
  async function nobodyAsksFor(gone: readonly RolloutCluster[]): Promise<void> {
    const another = newCluster();
    await another.create({ replicas: 1 });
    await Promise.all(gone.map((cluster) => cluster.begin()));
    await another.isTaken();
    await another.setImage('mysql:8.4.9');
    await another.completes();
    const requests = await Promise.all(gone.map((cluster) => cluster.requests()));
    expect(requests.flat().map(({ verb, requestURI }) => `${verb} ${requestURI}`)).to.deep.equal([]);
  }
});
