import { expect } from 'chai';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { ownScene, useRollouts } from '../cluster/rollout-fixture.ts';
import { wholeRollout } from '../cluster/rollout-story.ts';
import { Agent } from '../support/stage/agent.ts';

/** Nobody else on this machine has pods here. */
const network = 251;
const forever = 3600;

const messageOf = ({ now }: RolloutCluster): string => now.rollout?.status?.hold?.message ?? '';

async function agentOf(cluster: RolloutCluster, ordinal: number): Promise<Agent> {
  const pod = await cluster.pod(ordinal, 'has an address', ({ status }) => status?.podIP !== undefined);
  return Agent.start(pod.status?.podIP ?? '', cluster.name, ordinal);
}

describe('a rollout in which only the primary is left', () => {
  const { scenario } = useRollouts(ownScene({ network }, [], (cluster) => cluster.isTaken()));

  scenario('waits until the replicas have caught up, and then asks for one switchover', {}, async (cluster) => {
    await cluster.setting({ replicaDelayGraceSeconds: forever });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('ReplicasBehind');
    // Nobody listens at its pods yet.
    expect(messageOf(cluster)).to.contain(`the delay of ${cluster.podName(1)} can't be read`);
    expect(messageOf(cluster)).to.contain('ECONNREFUSED');
    const agents = [await agentOf(cluster, 1), await agentOf(cluster, 2)];
    try {
      const [candidate] = agents as [Agent];
      candidate.delaySeconds = 41;
      await cluster.until('the delay is shown', () =>
        messageOf(cluster).includes(`${cluster.podName(1)} is 41 s behind`),
      );
      candidate.delaySeconds = 75;
      await cluster.until('the words of the agent are shown', () => messageOf(cluster).includes('lag=75s'));
      expect(await cluster.steps()).to.deep.equal(['evict 2', 'evict 1']);
      candidate.delaySeconds = 0.25;
      await cluster.completes();
    } finally {
      for (const agent of agents) await agent.stop();
    }
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });
});
