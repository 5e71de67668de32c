import { expect } from 'chai';
import { strategyLabel } from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import { AppliedClusters, outcome } from './applied-clusters.ts';
import { sharedInstallation } from './moco-fixture.ts';
import { adopted, annotated, at, newImage, onDelete, partition } from './statefulset-writes.ts';
import { OwnWebhook } from './webhook-fixture.ts';

/** The rest of the message depends on whether the API server still has a connection to the process that has ended. */
const refusedFor = (webhook: string): RegExp =>
  new RegExp(`^500 .*failed calling webhook "${webhook}": failed to call webhook`);

describe('an unavailable webhook process beside MOCO’s webhook', () => {
  let ours: OwnWebhook;
  let clusters: AppliedClusters;

  before(async () => {
    const moco = await sharedInstallation(true);
    clusters = new AppliedClusters(moco.client);
    ours = await OwnWebhook.start(moco.controlPlane, moco.client);
    await ours.register('webhook');
  });

  after(() => ours?.stop());

  it('lets MOCO’s writes pass, which set a labelled StatefulSet to partition = replicas', async () => {
    const name = await clusters.makeWith(adopted);
    await ours.goAway();
    await clusters.apply(name, newImage);
    const meanwhile = await clusters.read(name);
    expect(meanwhile.spec.updateStrategy).to.deep.equal(at(3));
    expect(meanwhile.metadata.labels).to.have.property(strategyLabel, 'OnDelete');
    await ours.comeBack();
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
    await clusters.patch(name, annotated);
    expect(await clusters.strategy(name)).to.deep.equal(onDelete);
  });

  it('makes other writes to a StatefulSet at OnDelete fail until MOCO has written it', async () => {
    const name = await clusters.makeWith(adopted);
    await ours.goAway();
    expect(await outcome(clusters.patch(name, annotated))).to.match(
      /^422 .*only allowed for updateStrategy 'RollingUpdate'/,
    );
    await clusters.apply(name);
    await clusters.patch(name, annotated);
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
    await ours.comeBack();
  });

  it('affects no other StatefulSet of MOCO', async () => {
    const name = await clusters.makeWith(partition(1));
    await ours.goAway();
    await clusters.apply(name, newImage);
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
    await ours.comeBack();
  });
});

// That it fails closed: test/config/partition-driver.test.ts.
describe('an unavailable webhook process in place of MOCO’s webhook', () => {
  let ours: OwnWebhook;
  /** The process of the partitions alone, so that it can be away alone. */
  let partitions: OwnWebhook;
  let clusters: AppliedClusters;

  before(async () => {
    const moco = await sharedInstallation(false);
    clusters = new AppliedClusters(moco.client);
    ours = await OwnWebhook.start(moco.controlPlane, moco.client);
    await ours.register('webhook');
    partitions = await OwnWebhook.start(moco.controlPlane, moco.client);
    await partitions.register('partition-driver');
  });

  after(async () => {
    await ours?.stop();
    await partitions?.stop();
  });

  it('under Fail makes a template after a finished rollout fail, and no pod is replaced', async () => {
    const name = await finished();
    const before = await pods(name);
    const { spec, metadata } = await clusters.read(name);
    await partitions.goAway();
    for (const write of [
      () => clusters.apply(name, newImage),
      () => clusters.patch(name, annotated),
      () => clusters.patch(name, partition(3)),
    ]) {
      expect(await outcome(write())).to.match(refusedFor('partition.moco-rollout.io'));
    }
    const meanwhile = await clusters.read(name);
    expect(meanwhile.spec).to.deep.equal(spec);
    expect(meanwhile.metadata.generation).to.equal(metadata.generation);
    expect(await pods(name)).to.deep.equal(before);
    await partitions.comeBack();
    await clusters.apply(name, newImage);
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
    await until('the StatefulSet controller has seen the new template', async () => {
      const { status, metadata: now } = await clusters.read(name);
      return status?.observedGeneration === now.generation && status?.updateRevision !== status?.currentRevision;
    });
    expect(await pods(name)).to.deep.equal(before);
  });

  it('under Fail prevents the creation of StatefulSets', async () => {
    const name = await clusters.make();
    await clusters.orphan(name);
    await partitions.goAway();
    expect(await outcome(clusters.apply(name))).to.match(refusedFor('partition.moco-rollout.io'));
    await partitions.comeBack();
    await clusters.apply(name);
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
  });

  it('under Fail does not affect a cluster at OnDelete', async () => {
    const name = await clusters.make();
    await partitions.goAway();
    await clusters.patch(name, adopted);
    await clusters.apply(name, newImage);
    await clusters.patch(name, annotated);
    expect(await clusters.strategy(name)).to.deep.equal(onDelete);
    await partitions.comeBack();
  });

  /** A cluster whose last rollout has left the partition at 0. */
  async function finished(): Promise<string> {
    const name = await clusters.makeWith(partition(0));
    await until('there are three pods', async () => (await pods(name)).length === 3);
    return name;
  }

  /** Their uids. */
  const pods = async (name: string): Promise<readonly string[]> =>
    (await clusters.pods(name)).map(({ uid }) => uid).toSorted();
});
