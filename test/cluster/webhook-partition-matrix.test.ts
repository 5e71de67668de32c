import { expect } from 'chai';
import { AppliedClusters } from './applied-clusters.ts';
import { sharedInstallation } from './moco-fixture.ts';
import {
  adopted,
  at,
  comesTo,
  native,
  onDelete,
  partition,
  type Result,
  type Title,
  table,
} from './statefulset-writes.ts';
import { OwnWebhook } from './webhook-fixture.ts';

describe('our webhook for partitions in place of MOCO’s', () => {
  let ours: OwnWebhook;
  let clusters: AppliedClusters;

  before(async () => {
    const moco = await sharedInstallation(false);
    clusters = new AppliedClusters(moco.client);
    ours = await OwnWebhook.start(moco.controlPlane, moco.client);
    await ours.register('webhook', 'partition-driver');
  });

  after(() => ours?.stop());

  it('starts a new StatefulSet at partition = replicas', async () => {
    expect(await clusters.strategy(await clusters.make())).to.deep.equal(at(3));
  });

  const rolling: Readonly<Partial<Record<Title, Result>>> = {
    "MOCO's re-apply": 'nothing',
    "MOCO's apply of a new template": at(3),
    "MOCO's apply of more replicas": at(5),
    "MOCO's apply of none, where the cluster is offline": at(0),
    "MOCO's apply of a forced rolling update": native,
    'the end of a forced rolling update': at(3),
    'an annotation of another client': at(3),
    'a finalizer of another client': at(3),
    'our own mark': at(1),
    'a partition': at(2),
    'a partition and an annotation': at(3),
    'a partition above replicas': at(7),
    'a partition below 0': /422 .*must be greater than or equal to 0/,
    'RollingUpdate without a partition': at(3),
    // The API server's own default is there before any webhook is asked: it is an update of the partition alone.
    'no strategy at all': at(0),
    'OnDelete alone': onDelete,
    'the label and OnDelete': onDelete,
    'the label removed together with RollingUpdate': at(3),
    'the label removed together with partition = replicas': at(3),
  };

  describe('at partition 1', () => {
    table(
      rolling,
      () => clusters,
      () => clusters.makeWith(partition(1)),
    );

    it('changes the resourceVersion when our annotation is written', async () => {
      const name = await clusters.makeWith(partition(1));
      const { metadata } = await clusters.settled(name);
      await comesTo(clusters, name, 'our own mark', at(1));
      expect((await clusters.read(name)).metadata.resourceVersion).not.to.equal(metadata.resourceVersion);
    });
  });

  const labelled: Readonly<Partial<Record<Title, Result>>> = {
    "MOCO's re-apply": 'nothing',
    "MOCO's apply of a new template": onDelete,
    "MOCO's apply of more replicas": onDelete,
    "MOCO's apply of none, where the cluster is offline": onDelete,
    "MOCO's apply of a forced rolling update": native,
    'the end of a forced rolling update': onDelete,
    'an annotation of another client': onDelete,
    'a finalizer of another client': onDelete,
    'our own mark': onDelete,
    'a partition': onDelete,
    'a partition and an annotation': onDelete,
    'a partition above replicas': onDelete,
    'a partition below 0': onDelete,
    'RollingUpdate without a partition': onDelete,
    'no strategy at all': onDelete,
    'OnDelete alone': 'nothing',
    'the label and OnDelete': 'nothing',
    'the label removed together with RollingUpdate': at(3),
    'the label removed together with partition = replicas': at(3),
  };

  describe('at OnDelete with our label', () => {
    table(
      labelled,
      () => clusters,
      () => clusters.makeApplied(adopted),
    );
  });
});
