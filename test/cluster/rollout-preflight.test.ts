import { expect } from 'chai';
import { preflightLabel } from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { controllerUser, wholeRollout } from './rollout-story.ts';

const selector = `--selector=${preflightLabel}`;

/** Whether the controller has deleted every pod of a preflight. */
const nothingIsLeft = async (cluster: RolloutCluster): Promise<boolean> =>
  (await cluster.kubectl('get', 'pods', selector, '-o', 'name')).trim() === '';

/** What was done to members: pods of a preflight have no ordinal. */
const stepsOf = async (cluster: RolloutCluster): Promise<readonly string[]> =>
  (await cluster.steps()).filter((step) => !/ (pods|NaN)$/.test(step));

/** Lets the controller create them, and waits until the API server's authorizer knows. */
async function allow(cluster: RolloutCluster): Promise<void> {
  await cluster.kubectl('apply', '-k', 'config/preflight');
  const may = ['auth', 'can-i', 'create', 'mysqlrollouts.moco-rollout.io', '--subresource=preflight'];
  await until('it has the right', async () =>
    (await cluster.kubectl(...may, `--as=${controllerUser}`).catch(String)).startsWith('yes'),
  );
}

describe('images that are fetched before any member is replaced', () => {
  const { scenario } = useRollouts();

  scenario('hold the rollout if they cannot be pulled, until they are available', {}, async (cluster) => {
    await allow(cluster);
    await cluster.setting({ preflight: 'NodesAndConfiguration' });
    await cluster.setImage('mysql:8.4.9-missing');
    await cluster.holds('ImageUnavailable');
    expect(cluster.now.rollout?.status?.hold?.message).to.match(
      /image of the update revision: (failed to pull|Back-off pulling)/,
    );
    expect((await cluster.event('ImageUnavailable')).type).to.equal('Warning');
    expect(await stepsOf(cluster), 'no member is down').to.deep.equal([]);
    await until('no pod is left', () => nothingIsLeft(cluster));
    await cluster.setting({ preflight: 'Nodes' });
    await cluster.setImage('mysql:8.4.10');
    await cluster.completes();
    expect(await stepsOf(cluster)).to.deep.equal(wholeRollout);
    expect(await nothingIsLeft(cluster)).to.equal(true);
    const { revision, nodes = [] } = cluster.now.rollout?.status?.preflight ?? {};
    expect(revision).to.equal(cluster.now.rollout?.status?.updateRevision);
    expect(nodes.map(({ result }) => result)).to.deep.equal(nodes.map(() => 'Fetched'));
    expect(
      nodes.map(({ version }) => version),
      'the tag says it',
    ).to.deep.equal(nodes.map(() => undefined));
  });
});
