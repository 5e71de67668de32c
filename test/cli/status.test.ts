import { expect } from 'chai';
import { FakeCluster } from './fake-cluster.ts';
import { expectGolden } from './golden.ts';
import { phases } from './phases.ts';

describe('status', () => {
  for (const [phase, play] of Object.entries(phases)) {
    it(`shows a cluster that is ${phase}`, async () => {
      const cluster = await FakeCluster.start();
      try {
        await play(cluster);
        const block = await cluster.run('status', 'test');
        const overview = await cluster.run('status', '-A');
        expect([block.status, overview.status, block.err, overview.err]).to.deep.equal([0, 0, '', '']);
        expectGolden(`status-${phase}.txt`, `${block.out}\n${overview.out}`);
      } finally {
        await cluster.close();
      }
    });
  }
});
