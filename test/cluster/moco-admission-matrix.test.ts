import { expect } from 'chai';
import { strategyLabel } from '../../src/moco/names.ts';
import { type Ground, type Here, mocoGrounds, standOn } from './admission-grounds.ts';
import { outcome } from './applied-clusters.ts';
import type { AdmissionWay } from './on-delete-admission.ts';
import {
  adopted,
  annotated,
  at,
  forced,
  kept,
  native,
  newImage,
  onDelete,
  partition,
  type Result,
  type Title,
  table,
  toOnDelete,
  toRolling,
  writes,
} from './statefulset-writes.ts';

/** A write that is refused and changes nothing. */
const panics = /statefulset\.kb\.io.* denied the request: panic/;
const onlyRolling = /422 .*only allowed for updateStrategy 'RollingUpdate'/;

/** Writes to a StatefulSet that is at OnDelete, and what they come to without ours. */
const without = {
  "MOCO's re-apply": at(3),
  "MOCO's apply of a new template": at(3),
  'an annotation of another client': onlyRolling,
  'a finalizer of another client': onlyRolling,
  'a partition': panics,
  'RollingUpdate without a partition': at(3),
  "MOCO's apply of a forced rolling update": native,
  'the label removed together with RollingUpdate': at(3),
} as const satisfies Readonly<Partial<Record<Title, Result>>>;

/** What the same, and more, come to with ours. */
const withOurs = (
  way: AdmissionWay,
): Readonly<Record<keyof typeof without, Result> & Partial<Record<Title, Result>>> => ({
  "MOCO's re-apply": 'nothing',
  "MOCO's apply of a new template": onDelete,
  'an annotation of another client': onDelete,
  'a finalizer of another client': onDelete,
  // The policy comes before MOCO's webhook and takes the partition away, our webhook comes after it.
  'a partition': way === 'policy' ? onDelete : panics,
  'RollingUpdate without a partition': onDelete,
  "MOCO's apply of a forced rolling update": native,
  'the end of a forced rolling update': onDelete,
  'the label removed together with RollingUpdate': at(3),
});

for (const [sentence, ground] of Object.entries(mocoGrounds)) {
  for (const way of ground.ways) {
    describe(`${sentence} and our ${way}`, () => {
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

  it('refuse a plain change to OnDelete without the label, and allow it with the label', async () => {
    const { clusters } = here;
    const name = await clusters.make();
    expect(await outcome(clusters.patch(name, { spec: { updateStrategy: toOnDelete } }))).to.match(onlyRolling);
    await clusters.patch(name, adopted);
    expect(await clusters.strategy(name)).to.deep.equal(onDelete);
  });

  it('start a new StatefulSet with partition = replicas, and reset the partition with every write except one of the partition', async () => {
    const { clusters } = here;
    const name = await clusters.make();
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
    await clusters.patch(name, partition(1));
    expect(await clusters.strategy(name)).to.deep.equal(at(1));
    await clusters.patch(name, annotated);
    expect(await clusters.strategy(name)).to.deep.equal(at(3));
  });

  describe('with ours', () => {
    table(
      withOurs(way),
      () => here.clusters,
      () => here.clusters.makeApplied(adopted),
    );

    it('keep the label when MOCO applies', async () => {
      const { clusters } = here;
      const name = await clusters.makeWith(adopted);
      await clusters.apply(name, newImage);
      expect((await clusters.read(name)).metadata.labels?.[strategyLabel]).to.equal('OnDelete');
    });

    if (way === 'webhook') {
      it('record the decision in the audit log', async () => {
        const name = await here.clusters.makeWith(adopted);
        const writes = (await here.controlPlane.audit()).filter(({ objectRef }) => objectRef?.name === `moco-${name}`);
        expect(JSON.stringify(writes)).to.contain('"statefulset.moco-rollout.io/strategy":"labelled"');
      });
    }

    it('show in dry runs what adopts a StatefulSet and what keeps it, and change nothing', async () => {
      const { clusters } = here;
      const name = await clusters.make();
      const { metadata } = await clusters.read(name);
      for (const updateStrategy of [toOnDelete, toRolling]) {
        const would = await clusters.dryRun(name, { ...adopted, spec: { updateStrategy } });
        expect(would.spec.updateStrategy).to.deep.equal(onDelete);
        expect(would.metadata.labels).to.have.property(strategyLabel, 'OnDelete');
      }
      expect((await clusters.read(name)).metadata.generation).to.equal(metadata.generation);
    });

    it('treat a StatefulSet that MOCO re-creates as any other, so that it can be adopted', async () => {
      const { clusters } = here;
      const name = await clusters.makeWith(adopted);
      await clusters.orphan(name);
      await clusters.apply(name);
      const made = await clusters.read(name);
      expect(made.spec.updateStrategy).to.deep.equal(at(3));
      expect(made.metadata.labels).not.to.have.property(strategyLabel);
      await clusters.patch(name, adopted);
      expect(await clusters.strategy(name)).to.deep.equal(onDelete);
    });
  });

  describe('with ours and the one for partitions, as after an upgrade of MOCO', () => {
    before(() => here.ours.webhook.register('partition-driver'));
    after(() => here.ours.webhook.unregister('partition-driver'));

    it('agree on every write to a StatefulSet that is updated by its partition', async () => {
      const { clusters } = here;
      const name = await clusters.make();
      expect(await clusters.strategy(name)).to.deep.equal(at(3));
      for (const lower of [2, 1]) {
        await clusters.patch(name, partition(lower));
        expect(await clusters.strategy(name)).to.deep.equal(at(lower));
      }
      await clusters.apply(name, newImage);
      expect(await clusters.strategy(name)).to.deep.equal(at(3));
      await clusters.apply(name, forced);
      expect(await clusters.strategy(name)).to.deep.equal(native);
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal(at(3));
    });

    it('leave a StatefulSet at OnDelete, and release it', async () => {
      const { clusters } = here;
      const name = await clusters.makeWith(adopted);
      for (const change of [{}, newImage]) {
        await clusters.apply(name, change);
        expect(await clusters.strategy(name)).to.deep.equal(onDelete);
      }
      await writes['the label removed together with RollingUpdate'](clusters, name);
      expect(await clusters.strategy(name)).to.deep.equal(at(3));
    });
  });

  // Without ours it does not matter which of them was there before.
  if (way === 'webhook') return;

  describe('without ours, for a StatefulSet still at OnDelete', () => {
    const names = new Map<Title, string>();

    before(async () => {
      for (const title of Object.keys(without) as readonly Title[]) {
        names.set(title, await here.clusters.makeWith(adopted));
      }
      await here.ours.remove();
    });

    after(() => here.ours.install());

    it('show in a dry run that nothing keeps OnDelete', async () => {
      const { clusters } = here;
      const name = await clusters.make();
      expect(await outcome(clusters.dryRun(name, adopted))).to.match(onlyRolling);
      const would = await clusters.dryRun(name, { ...adopted, spec: { updateStrategy: toRolling } });
      expect(would.spec.updateStrategy).to.deep.equal(at(3));
    });

    it('refuse the label for new pods, and lower the partition of one that has it', async () => {
      const { clusters } = here;
      const labels = { [strategyLabel]: 'OnDelete', ...kept.metadata.labels };
      const name = await clusters.makeWith({ metadata: { labels } }, partition(2));
      expect(await clusters.strategy(name)).to.deep.equal(at(2));
      const atOnDelete = names.get("MOCO's re-apply") ?? '';
      expect(await outcome(clusters.dryRun(atOnDelete, kept))).to.match(onlyRolling);
    });

    table(
      without,
      () => here.clusters,
      async (title) => names.get(title) ?? '',
    );
  });
}
