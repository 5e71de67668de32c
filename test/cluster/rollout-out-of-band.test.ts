import { expect } from 'chai';
import { useRollouts } from './rollout-fixture.ts';

describe('a member that a user deletes in the middle of a rollout', () => {
  const { scenario } = useRollouts();

  scenario('comes up at the update revision, is told of, and is not taken again', {}, async (cluster) => {
    await cluster.setting({ paused: true });
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('the rollout is known', ({ rollout }) => rollout?.status?.rollout?.waiting?.length === 3);
    await cluster.kubectl('delete', 'pod', cluster.podName(1), '--wait=false');
    await cluster.until('it is told of', ({ rollout }) => {
      const { rollout: progress, members = [] } = rollout?.status ?? {};
      return progress?.updatedOutOfBand?.includes(1) && members[1]?.verdict === 'UpdatedOutOfBand';
    });
    await cluster.event('UpdatedOutOfBand');
    await cluster.setting({ paused: false });
    await cluster.completes();
    expect((await cluster.steps()).filter((step) => step.startsWith('evict'))).to.deep.equal(['evict 2', 'evict 0']);
    await cluster.until('the history has it', ({ rollout }) => {
      const [ended] = rollout?.status?.history ?? [];
      return ended?.outcome === 'Complete' && ended.updatedOutOfBand?.join() === '1';
    });
  });
});
