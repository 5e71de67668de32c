import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { preflightLabel } from '../../src/moco/names.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';

const selector = `--selector=${preflightLabel}`;
const everyStep = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

/** The names of the pods that find out what nodes can run, once there are so many. */
async function podsOf(cluster: RolloutCluster, least: number): Promise<readonly string[]> {
  for (;;) {
    const names = (await cluster.kubectl('get', 'pods', selector, '-o', 'name'))
      .split('\n')
      .filter((one) => one !== '');
    if (names.length >= least) return names;
    await delay(250);
  }
}

/** The nodes here run pods of MOCO alone: the test is their kubelet. */
async function kubelets(cluster: RolloutCluster, names: readonly string[], status: object): Promise<void> {
  for (const name of names) {
    await cluster.kubectl('patch', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));
  }
}

const state = (one: object): object => ({
  containerStatuses: [{ name: 'mysqld', image: 'x', imageID: '', ready: false, restartCount: 0, state: one }],
});

describe('images that are fetched before anybody is taken', () => {
  const { scenario } = useRollouts();

  scenario(
    'hold the rollout where they can not be had, and every member goes once they are there',
    {},
    async (cluster) => {
      await cluster.setting({ prepull: 'Nodes' });
      await cluster.setImage('mysql:8.4.9');
      const first = await podsOf(cluster, 1);
      const waiting = { reason: 'ErrImagePull', message: 'mysql:8.4.9: not found' };
      await kubelets(cluster, first, { phase: 'Pending', ...state({ waiting }) });
      await cluster.holds('ImageUnavailable');
      expect(cluster.now.rollout?.status?.hold?.message).to.contain('mysql:8.4.9: not found');
      expect((await cluster.event('ImageUnavailable')).type).to.equal('Warning');
      expect(await cluster.steps(), 'no member is down').to.deep.equal([]);
      expect(await cluster.kubectl('get', 'pods', selector, '-o', 'name'), 'nothing is left').to.equal('');
      await cluster.setImage('mysql:8.4.10');
      const second = await podsOf(cluster, 1);
      const terminated = { exitCode: 0, reason: 'Completed' };
      await kubelets(cluster, second, { phase: 'Succeeded', ...state({ terminated }) });
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(everyStep);
      expect(await cluster.kubectl('get', 'pods', selector, '-o', 'name')).to.equal('');
      const { revision, nodes = [] } = cluster.now.rollout?.status?.preflight ?? {};
      expect(revision).to.equal(cluster.now.rollout?.status?.updateRevision);
      expect(nodes.map(({ result }) => result)).to.deep.equal(nodes.map(() => 'Fetched'));
    },
  );
});
