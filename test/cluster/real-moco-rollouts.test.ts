import { expect } from 'chai';
import { realMocoScene } from './real-moco-fixture.ts';
import { useRollouts } from './rollout-fixture.ts';

const newImage = 'mysql:8.4.9';

describe('rollouts beside moco-controller 0.36 itself', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario('replicas first, then a switchover by demote, then the old primary', {}, async (cluster) => {
    await cluster.setImage(newImage);
    await cluster.completes();
    expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
    expect(await cluster.steps()).to.include.members(['evict 2', 'evict 1', 'evict 0']);
  });
});
