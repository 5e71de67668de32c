import { expect } from 'chai';
import { annotationOn, forceRollingUpdateAnnotation, strategyLabel } from '../../src/moco/names.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { mergePatch } from '../support/merge-patch.ts';
import type { Stage } from '../support/stage/stage.ts';
import {
  type Installed,
  sharedInstallation,
  startDeadlineMilliseconds,
  testDeadlineMilliseconds,
  until,
} from './moco-fixture.ts';
import { type AdmissionWay, admissionBy, admissionWays, type OnDeleteAdmission } from './on-delete-admission.ts';
import { withPolicy } from './real-moco-admission.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { sharedFlags } from './rollout-fixture.ts';
import { AppliedClusters, newImage, outcome } from './webhook-clusters.ts';

const onDelete = { type: 'OnDelete', rollingUpdate: null };
const rolling = { type: 'RollingUpdate', rollingUpdate: null };
const reset = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };
/** What Kubernetes rolls by itself. */
const native = { type: 'RollingUpdate' };
/** A write that is refused and changes nothing. */
const panics = /statefulset\.kb\.io.* denied the request: panic/;
const forced = { metadata: { annotations: { [forceRollingUpdateAnnotation]: annotationOn } } };
const adopted = { metadata: { labels: { [strategyLabel]: 'OnDelete' } }, spec: { updateStrategy: onDelete } };

/** One row: a write to a StatefulSet that is at OnDelete, and what it comes to without our webhook and with it. */
interface Row {
  readonly write: (name: string) => Promise<unknown>;
  readonly without: object | RegExp;
  readonly with: object | RegExp | 'unchanged';
}

/** Where a webhook of MOCO's is. */
interface Ground {
  readonly open: () => Promise<Pick<Installed, 'controlPlane' | 'client'> & Partial<Pick<Stage, 'nodes'>>>;
  /** Leaves everything as it was found. */
  readonly leave: () => Promise<void>;
}

/** The same table holds for both: the stand-in is compared with what it stands for. */
const grounds: Readonly<Record<string, Ground>> = {
  'the stand-in’s webhook': { open: () => sharedInstallation(true), leave: async () => undefined },
  'the webhook of moco-controller 0.36': {
    open: async () => {
      const stage = await realStage();
      await Promise.all(stage.controllers.map((controller) => controller.stop('SIGKILL')));
      return stage;
    },
    leave: async () => {
      const stage = await realStage();
      await withPolicy(stage.client);
      await stage.startController(sharedFlags);
    },
  },
};

const realStage = async (): Promise<Stage> => (await realMocoScene.use()()).stage;

for (const [sentence, ground] of Object.entries(grounds)) {
  for (const way of admissionWays) {
    describe(`${sentence} and our ${way}`, function describeWay() {
      this.timeout(testDeadlineMilliseconds);
      matrix(ground, way);
    });
  }
}

function matrix({ open, leave }: Ground, way: AdmissionWay): void {
  let controlPlane: ControlPlane;
  let ours: OnDeleteAdmission;
  let clusters: AppliedClusters;

  before(async function installEverything() {
    this.timeout(startDeadlineMilliseconds);
    const ground = await open();
    ({ controlPlane } = ground);
    ours = await admissionBy(way, ground);
    clusters = new AppliedClusters(ground.client, ground.nodes);
  });

  after(async () => {
    await ours?.stop();
    await leave();
  });

  const rows: Record<string, Row> = {
    "MOCO's re-apply": {
      write: (name) => clusters.apply(name),
      without: reset,
      with: 'unchanged',
    },
    "MOCO's apply of a new template": {
      write: (name) => clusters.apply(name, newImage),
      without: reset,
      with: { type: 'OnDelete' },
    },
    'an annotation of anybody': {
      write: (name) => clusters.patch(name, { metadata: { annotations: { x: '1' } } }),
      without: /422 .*only allowed for updateStrategy 'RollingUpdate'/,
      with: { type: 'OnDelete' },
    },
    'a finalizer of anybody': {
      write: (name) => clusters.patch(name, { metadata: { finalizers: ['example.com/keep'] } }),
      without: /422 .*only allowed for updateStrategy 'RollingUpdate'/,
      with: { type: 'OnDelete' },
    },
    'an explicit partition': {
      write: (name) =>
        clusters.patch(name, {
          spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
        }),
      without: panics,
      // The policy comes before MOCO's webhook and takes the partition away, our webhook comes after it.
      with: way === 'policy' ? { type: 'OnDelete' } : panics,
    },
    'back to RollingUpdate': {
      write: (name) => clusters.patch(name, { spec: { updateStrategy: rolling } }),
      without: reset,
      with: { type: 'OnDelete' },
    },
    "MOCO's apply of a forced rolling update": {
      write: (name) => clusters.apply(name, forced),
      without: native,
      with: native,
    },
    'the label removed together with RollingUpdate': {
      write: (name) =>
        clusters.patch(name, {
          metadata: { labels: { [strategyLabel]: null } },
          spec: { updateStrategy: rolling },
        }),
      without: reset,
      with: reset,
    },
  };

  it('refuse a plain change to OnDelete without the label, and allow it with the label', async () => {
    const name = await clusters.make();
    const plain = clusters.patch(name, { spec: { updateStrategy: onDelete } });
    expect(await outcome(plain)).to.match(/422 .*only allowed for updateStrategy 'RollingUpdate'/);
    await clusters.patch(name, adopted);
    expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
  });

  it('start a new StatefulSet with partition = replicas, and reset the partition with every write except one of the partition', async () => {
    const name = await clusters.make();
    expect(await clusters.strategy(name)).to.deep.equal(reset);
    const lowered = { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } };
    await clusters.patch(name, lowered);
    expect(await clusters.strategy(name)).to.deep.equal(mergePatch(reset, { rollingUpdate: { partition: 1 } }));
    await clusters.patch(name, { metadata: { annotations: { x: '1' } } });
    expect(await clusters.strategy(name)).to.deep.equal(reset);
  });

  describe('with ours', () => {
    for (const [title, row] of Object.entries(rows)) {
      it(`${title} ${reported(row.with)}`, async () => {
        const name = await clusters.make();
        await clusters.patch(name, adopted);
        // The first apply makes MOCO the owner of the type that the taking patch owned; from then on nothing is new.
        await clusters.apply(name);
        await until('the StatefulSet controller has written all that it has to', async () => {
          const { metadata, status } = await clusters.read(name);
          return status?.observedGeneration === metadata.generation && status?.updatedReplicas === 3;
        });
        const before = await clusters.read(name);
        await check(name, row, row.with === 'unchanged' ? { type: 'OnDelete' } : row.with);
        if (row.with === 'unchanged') {
          expect((await clusters.read(name)).metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
        }
      });
    }

    it('keep the label when MOCO applies', async () => {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      await clusters.apply(name, newImage);
      expect((await clusters.read(name)).metadata.labels?.[strategyLabel]).to.equal('OnDelete');
    });

    if (way === 'webhook') {
      it('record the decision in the audit log', async () => {
        const name = await clusters.make();
        await clusters.patch(name, adopted);
        const writes = (await controlPlane.audit()).filter(({ objectRef }) => objectRef?.name === `moco-${name}`);
        expect(JSON.stringify(writes)).to.contain('"statefulset.moco-rollout.io/strategy":"labelled"');
      });
    }

    it('restore OnDelete when a rolling update is no longer forced', async () => {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      await clusters.apply(name, forced);
      expect(await clusters.strategy(name)).to.deep.equal(native);
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
    });

    it('show in dry runs what adopts a StatefulSet and what keeps it, and change nothing', async () => {
      const name = await clusters.make();
      const { metadata } = await clusters.read(name);
      for (const updateStrategy of [onDelete, rolling]) {
        const would = await clusters.dryRun(name, { ...adopted, spec: { updateStrategy } });
        expect(would.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
        expect(would.metadata.labels).to.have.property(strategyLabel, 'OnDelete');
      }
      expect((await clusters.read(name)).metadata.generation).to.equal(metadata.generation);
    });

    it('treat a StatefulSet that MOCO re-creates as any other, so that it can be adopted', async () => {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      await clusters.orphan(name);
      await clusters.apply(name);
      const made = await clusters.read(name);
      expect(made.spec.updateStrategy).to.deep.equal(reset);
      expect(made.metadata.labels).not.to.have.property(strategyLabel);
      await clusters.patch(name, adopted);
      expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
    });
  });

  describe('with ours and the one for partitions, as after an upgrade of MOCO', () => {
    before(() => ours.webhook.register('partition-driver'));
    after(() => ours.webhook.unregister('partition-driver'));

    it('agree on every write to a StatefulSet that is updated by its partition', async () => {
      const name = await clusters.make();
      expect(await clusters.strategy(name)).to.deep.equal(reset);
      for (const partition of [2, 1]) {
        const lowered = { rollingUpdate: { partition } };
        await clusters.patch(name, { spec: { updateStrategy: lowered } });
        expect(await clusters.strategy(name)).to.deep.equal(mergePatch(reset, lowered));
      }
      await clusters.apply(name, newImage);
      expect(await clusters.strategy(name)).to.deep.equal(reset);
      await clusters.apply(name, forced);
      expect(await clusters.strategy(name)).to.deep.equal(native);
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal(reset);
    });

    it('leave a StatefulSet at OnDelete, and release it', async () => {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      for (const change of [{}, newImage]) {
        await clusters.apply(name, change);
        expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
      }
      await rows['the label removed together with RollingUpdate']?.write(name);
      expect(await clusters.strategy(name)).to.deep.equal(reset);
    });
  });

  // Without ours it does not matter which of them was there before.
  if (way === 'webhook') return;

  describe('without ours, for a StatefulSet still at OnDelete', () => {
    const names = new Map<string, string>();

    before(async () => {
      for (const title of Object.keys(rows)) {
        const name = await clusters.make();
        await clusters.patch(name, adopted);
        names.set(title, name);
      }
      await ours.remove();
    });

    after(() => ours.install());

    it('show in a dry run that nothing keeps OnDelete', async () => {
      const name = await clusters.make();
      const adopting = outcome(clusters.dryRun(name, adopted));
      expect(await adopting).to.match(/422 .*only allowed for updateStrategy 'RollingUpdate'/);
      const would = await clusters.dryRun(name, { ...adopted, spec: { updateStrategy: rolling } });
      expect(would.spec.updateStrategy).to.deep.equal(reset);
    });

    for (const [title, row] of Object.entries(rows)) {
      it(`${title} ${reported(row.without)}`, () => check(names.get(title) ?? '', row, row.without));
    }
  });

  async function check(name: string, row: Row, expected: object | RegExp): Promise<void> {
    const came = await outcome(row.write(name));
    if (expected instanceof RegExp) {
      expect(came).to.match(expected);
      expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
    } else {
      expect(came).to.equal('done');
      expect(await clusters.strategy(name)).to.deep.equal(expected);
    }
  }
}

function reported(expected: object | RegExp | 'unchanged'): string {
  if (expected instanceof RegExp) {
    return 'is refused';
  }
  if (expected === 'unchanged') {
    return 'changes nothing, not even the resourceVersion';
  }
  if (expected === native) {
    return 'brings RollingUpdate without a partition';
  }
  return expected === reset ? 'brings RollingUpdate with partition = replicas' : 'leaves it at OnDelete';
}
