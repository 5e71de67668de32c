import { expect } from 'chai';
import { atWork } from './bench.ts';

/** As the kubelet reports a pod for which its node has no room, which the StatefulSet controller then creates again. */
const refused = {
  status: {
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: 'Pod was rejected: Node didn’t have enough resource: cpu',
    conditions: [],
    containerStatuses: [],
    initContainerStatuses: [],
  },
};
const created = { status: { ...refused.status, phase: 'Pending', reason: null, message: null } };

describe('an updated pod that its node refuses three times a second', () => {
  it('is one hold with the reason of the kubelet, one status every ten seconds at most, and opens the breaker', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    const holds = new Set<string | undefined>();
    const stalled = new Set<string | undefined>();
    const rounds = 90;
    let before = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const patch of [created, refused]) {
        if (patch === created && round > 0) bench.replace(2);
        bench.changePod(2, patch);
        await program.turn();
        bench.world.freeze(1000 / 6);
        if (round < 6) continue;
        const { hold, conditions } = bench.status;
        holds.add(hold?.message);
        stalled.add(conditions?.find(({ type }) => type === 'Stalled')?.status);
      }
      if (round === 6) before = bench.server.writes.length;
    }
    expect([...holds]).to.deep.equal([
      'the new revision fails on moco-test-2: the pod has failed: OutOfcpu; no other member is updated until the template is corrected',
    ]);
    expect([...stalled]).to.deep.equal(['True']);
    expect(bench.server.writes.length - before, 'in 28 s').to.be.at.most(4);
    expect(bench.status.rollout?.failing).to.deep.equal({ ordinal: 2, message: 'the pod has failed: OutOfcpu' });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });
});
