import { expect } from 'chai';
import { FakeCluster } from './fake-cluster.ts';
import { expectGolden } from './golden.ts';
import { phases } from './phases.ts';

describe('status and plan', () => {
  for (const [phase, play] of Object.entries(phases)) {
    it(`show a cluster that is ${phase}`, async () => {
      const cluster = await FakeCluster.start();
      try {
        await play(cluster);
        const block = await cluster.run('status', 'test');
        const overview = await cluster.run('status', '-A');
        const data = await cluster.run('status', 'test', '-o', 'yaml');
        const plan = await cluster.run('plan', 'test');
        const all = [block, overview, data, plan];
        expect(all.map(({ status, err }) => [status, err])).to.deep.equal(all.map(() => [0, '']));
        expectGolden(`status-${phase}.txt`, `${block.out}\n${overview.out}\n${data.out}`);
        expectGolden(`plan-${phase}.txt`, plan.out);
      } finally {
        await cluster.close();
      }
    });
  }
});
