import { expect } from 'chai';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

const flags = ['--feature-gates=UpdateStrategyOnDelete=true,ReplicationFacts=true'];

/** Replaces the members from that ordinal on, and resolves to why MySQL was not asked. */
async function problemAt(cluster: RolloutCluster, partition: number, image: string): Promise<string | undefined> {
  await cluster.setting({ partition });
  await cluster.setImage(image);
  await cluster.holds('PartitionReached');
  return cluster.now.rollout?.status?.mysqlProblem;
}

describe('the password with which MySQL itself is asked', () => {
  const { scenario } = useRollouts(ownScene({}, flags, (cluster) => cluster.isTaken()));

  scenario('is not read where nobody has allowed it, and the rollout goes on', {}, async (cluster) => {
    const problem = await problemAt(cluster, 2, 'mysql:8.4.9');
    expect(problem).to.equal(`the controller may not read the Secret ${cluster.namespace}/moco-x`);
    await cluster.setting({ partition: null });
    await cluster.completes();
  });

  scenario('is read in the namespaces of config/replication-facts', {}, async (cluster) => {
    await cluster.kubectl('apply', '-k', 'config/replication-facts');
    await cluster.kubectl('delete', 'secret', 'moco-x', '--ignore-not-found');
    const missing = await problemAt(cluster, 2, 'mysql:8.4.9');
    expect(missing).to.equal(`there is no Secret ${cluster.namespace}/moco-x`);
    await cluster.setting({ partition: null });
    await cluster.completes();
  });
});
