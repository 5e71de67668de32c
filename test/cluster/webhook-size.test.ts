import { expect } from 'chai';
import { AppliedClusters, outcome } from './applied-clusters.ts';
import { sharedInstallation } from './moco-fixture.ts';
import { at } from './statefulset-writes.ts';
import { OwnWebhook } from './webhook-fixture.ts';

const megabyte = 1024 * 1024;

/** Of a MySQLCluster: a template with so many characters more. */
const filled = (character: string, count: number): object => ({
  spec: {
    podTemplate: {
      spec: {
        containers: [
          { name: 'mysqld', image: 'mysql:8.4.8', env: [{ name: 'FILLING', value: character.repeat(count) }] },
        ],
      },
    },
  },
});

describe('StatefulSets near the API server’s size limit at our webhooks', function () {
  let ours: OwnWebhook;
  let clusters: AppliedClusters;

  before(async () => {
    const moco = await sharedInstallation(false);
    clusters = new AppliedClusters(moco.client);
    ours = await OwnWebhook.start(moco.controlPlane, moco.client);
    await ours.register('webhook', 'partition-driver');
  });

  after(() => ours?.stop());

  it('pass although object and old object are above 3 MiB together', async () => {
    const name = await clusters.make();
    for (const character of ['x', 'y', 'z']) await clusters.apply(name, filled(character, 1.45 * megabyte));
    const made = await clusters.read(name);
    expect(JSON.stringify(made))
      .to.contain('zzz')
      .and.to.have.length.above(1.45 * megabyte);
    expect(made.spec.updateStrategy).to.deep.equal(at(3));
  });

  it('are refused with our message if JSON makes them several times as long, and nothing changes', async () => {
    const name = await clusters.make();
    const { spec } = await clusters.read(name);
    // The API server writes this character as six.
    const refused = await outcome(clusters.apply(name, filled('<', 1.4 * megabyte)));
    expect(refused).to.match(
      /^500 .*failed calling webhook "partition\.moco-rollout\.io": .*: Expected a body of at most \d+ bytes, .*; got more\.$/,
    );
    expect((await clusters.read(name)).spec).to.deep.equal(spec);
    await clusters.apply(name, filled('<', 0.5 * megabyte));
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
  });
});
