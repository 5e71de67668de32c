import { expect } from 'chai';
import { admissionProbeAnnotation } from '../../src/moco/names.ts';
import { until } from '../support/control-plane/until.ts';
import { type Ground, type Here, mocoGrounds, ownGround, standOn } from './admission-grounds.ts';
import { outcome } from './applied-clusters.ts';
import type { AdmissionWay } from './on-delete-admission.ts';
import {
  adopted,
  at,
  kept,
  native,
  newImage,
  noLongerKept,
  onDelete,
  partition,
  type Result,
  type Title,
  table,
  toOnDelete,
  writes,
} from './statefulset-writes.ts';

/** Writes to a StatefulSet whose new pods start at the current revision, and what they come to. */
const results: Readonly<Partial<Record<Title, Result>>> = {
  "MOCO's re-apply": 'no field',
  // As MOCO's partition controller patches it.
  'a partition': 'no field',
  'partition 0': 'no field',
  "MOCO's apply of a new template": at(3),
  "MOCO's apply of more replicas": at(5),
  'a partition and an annotation': at(3),
  'RollingUpdate without a partition': 'no field',
  'no strategy at all': 'no field',
  'OnDelete alone': 'no field',
  "MOCO's apply of a forced rolling update": native,
  'the end of a forced rolling update': at(3),
  'the label for new pods removed': onDelete,
  'the label for new pods removed together with OnDelete': onDelete,
  'both labels removed together with RollingUpdate': at(3),
  'both labels removed together with partition = replicas': at(3),
};

for (const [sentence, ground] of Object.entries({ ...mocoGrounds, ...ownGround })) {
  for (const way of ground.ways) {
    describe(`new pods at the current revision with our ${way} and ${sentence}`, () => {
      matrix(ground, way);
    });
  }
}

function matrix(ground: Ground, way: AdmissionWay): void {
  let here: Here;

  before(async () => {
    here = await standOn(ground, way);
  });

  after(() => here?.leave());

  /** At RollingUpdate with partition = replicas, by the label alone. */
  async function makeKept(): Promise<string> {
    const name = await here.clusters.makeApplied(adopted, kept);
    expect(await here.clusters.strategy(name)).to.deep.equal(at(3));
    return name;
  }

  table(results, () => here.clusters, makeKept);

  it('leave the partition to others after a release', async () => {
    const name = await makeKept();
    await writes['both labels removed together with RollingUpdate'](here.clusters, name);
    await here.clusters.patch(name, partition(2));
    expect(await here.clusters.strategy(name)).to.deep.equal(at(2));
  });

  it('let a deleted pod come back at the current revision, and replace no other', async () => {
    const { clusters } = here;
    const name = await makeKept();
    const before = await allPods(name);
    await clusters.apply(name, newImage);
    await until('the template has another revision', async () => {
      const { metadata, status } = await clusters.read(name);
      return status?.observedGeneration === metadata.generation && status?.updateRevision !== status?.currentRevision;
    });
    for (const lower of [2, 1, 0]) await clusters.patch(name, partition(lower));
    await clusters.takePod(name, 1);
    const after = await allPods(name);
    const { currentRevision, updateRevision } = (await clusters.read(name)).status ?? {};
    expect(after.map(({ revision }) => revision)).to.deep.equal(Array(3).fill(currentRevision));
    expect(after.map(({ uid }) => uid)).to.deep.equal([before[0]?.uid, after[1]?.uid, before[2]?.uid]);
    await clusters.patch(name, noLongerKept);
    await clusters.takePod(name, 1);
    const last = await allPods(name);
    expect(last.map(({ revision }) => revision)).to.deep.equal([currentRevision, updateRevision, currentRevision]);
  });

  async function allPods(name: string) {
    let found = await here.clusters.pods(name);
    await until('there are three pods', async () => {
      found = await here.clusters.pods(name);
      return found.length === 3;
    });
    return found;
  }

  /** The strategy that a dry run comes to, and who it says keeps it. */
  async function probed(name: string, labels: object): Promise<readonly [strategy: unknown, by: string | undefined]> {
    const would = await here.clusters.dryRun(name, {
      metadata: { labels, annotations: { [admissionProbeAnnotation]: 'true' } },
      spec: { updateStrategy: toOnDelete },
    });
    return [would.spec.updateStrategy, would.metadata.annotations?.[admissionProbeAnnotation]];
  }

  it('show in a dry run who keeps the strategy, and change nothing', async () => {
    const name = await here.clusters.makeWith(adopted);
    const before = await here.clusters.read(name);
    const keeper = way === 'policy' ? 'true' : 'webhook';
    expect(await probed(name, kept.metadata.labels)).to.deep.equal([at(3), keeper]);
    expect((await here.clusters.read(name)).metadata.generation).to.equal(before.metadata.generation);
  });

  it('refuse the label for another StatefulSet of the same name, by its uid alone', async () => {
    const name = await here.clusters.makeWith(adopted);
    const patch = here.clusters.patch(name, { metadata: { uid: 'a-uid-of-before', ...kept.metadata } });
    expect(await outcome(patch)).to.match(/422 .*metadata\.uid: Invalid value/);
  });

  if (way === 'policy') {
    it('agree with our webhook, which is named as who keeps it', async () => {
      const { webhook } = here.ours;
      await webhook.register('webhook');
      try {
        expect(await probed(await makeKept(), {})).to.deep.equal([at(3), 'webhook']);
      } finally {
        await webhook.unregister('webhook');
      }
    });
  }

  if (ground.registered.includes('partition-driver')) {
    it('do not make MOCO’s writes depend on the process of the webhooks', async () => {
      const { clusters, ours } = here;
      const name = await makeKept();
      await ours.webhook.goAway();
      try {
        expect(await outcome(clusters.apply(name, newImage))).to.equal('done');
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
        const lowered = await outcome(clusters.patch(name, partition(2)));
        // The policy has pinned it again before that webhook would be asked.
        if (way === 'policy') expect(lowered).to.equal('done');
        else expect(lowered).to.match(/^500 .*failed calling webhook "partition\.moco-rollout\.io"/);
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
      } finally {
        await ours.webhook.comeBack();
      }
    });
  } else {
    it('agree with the webhook for partitions, as after an upgrade of MOCO', async () => {
      const { clusters, ours } = here;
      await ours.webhook.register('partition-driver');
      try {
        const name = await makeKept();
        await clusters.patch(name, partition(2));
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
        await clusters.apply(name, newImage);
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
        await writes['both labels removed together with RollingUpdate'](clusters, name);
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
      } finally {
        await ours.webhook.unregister('partition-driver');
      }
    });
  }
}
