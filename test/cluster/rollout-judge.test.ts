import { expect } from 'chai';
import { ApiClient } from '../../src/kube/api-client.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { realWorld } from '../../src/kube/real-world.ts';
import { path, pods } from '../../src/kube/resource.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';

describe('the judge of rollouts', function () {
  this.timeout(scenarioDeadlineMilliseconds);
  const { stage, newCluster } = useRollouts();
  let connection: Connection;
  let client: ApiClient;

  before(async () => {
    const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
    connection = connect({ kubeconfigPath: await stage().controlPlane.kubeconfigFor(serviceAccount) });
    client = new ApiClient({ world: realWorld(connection.exchange), qps: 100, burst: 100 });
  });

  after(() => connection?.close());

  async function remove(cluster: RolloutCluster, ordinal: number, withPreconditions = true): Promise<void> {
    const { namespace } = cluster;
    const { name, uid, resourceVersion } = (await cluster.pod(ordinal, 'is there', () => true)).metadata;
    const body = withPreconditions ? { preconditions: { uid, resourceVersion } } : {};
    await client.call({ method: 'DELETE', path: path(pods, { namespace, name }), body, priority: 'disrupt' });
    await cluster.pod(ordinal, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  }

  it('detects every violation of a controller that deletes pods at will', async () => {
    const cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
    for (const ordinal of [2, 1, 0]) await remove(cluster, ordinal);
    const found = await cluster.violations();
    const about = (ordinal: number): readonly string[] =>
      found.filter((sentence) => sentence.startsWith(`delete ${ordinal}: `)).map(lawOf);
    expect(about(2)).to.have.members(['unwritten', 'I4', 'I5']);
    expect(about(1)).to.include.members(['unwritten', 'I2', 'I4', 'I5']);
    expect(about(0)).to.include('unwritten');
  });

  it('detects the disruption of a primary without a switchover', async () => {
    const cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
    await remove(cluster, 0);
    expect((await cluster.violations()).map(lawOf)).to.include('I3');
  });

  it('detects a disruption without preconditions', async () => {
    const cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
    await remove(cluster, 1, false);
    expect((await cluster.violations()).map(lawOf)).to.deep.equal(['I9']);
  });
});

function lawOf(sentence: string): string {
  return /I\d/.exec(sentence)?.[0] ?? (sentence.includes('not written down') ? 'unwritten' : sentence);
}
