import { expect } from 'chai';
import {
  admissionProbeAnnotation,
  annotationOn,
  forceRollingUpdateAnnotation,
  newPodsLabel,
  strategyLabel,
} from '../../src/moco/names.ts';
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

const keptLabel = { [newPodsLabel]: 'CurrentRevision' };
const kept = { metadata: { labels: keptLabel } };
const partition = (number: number): object => ({ spec: { updateStrategy: { rollingUpdate: { partition: number } } } });
const pinned = (replicas: number): object => ({ type: 'RollingUpdate', rollingUpdate: { partition: replicas } });

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
    "MOCO's re-apply": { write: (name) => clusters.apply(name), without: reset, with: 'unchanged' },
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
      write: (name) => clusters.patch(name, { spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } }),
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
        clusters.patch(name, { metadata: { labels: { [strategyLabel]: null } }, spec: { updateStrategy: rolling } }),
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

  describe('with ours, while new pods come up at the current revision', () => {
    /** At RollingUpdate with partition = replicas, by the label alone. */
    async function makeKept(): Promise<string> {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      await clusters.patch(name, kept);
      expect(await clusters.strategy(name)).to.deep.equal(pinned(3));
      // The first apply makes MOCO the owner of the type; from then on nothing is new.
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal(pinned(3));
      return name;
    }

    const writes: Readonly<Record<string, readonly [(name: string) => Promise<unknown>, object | 'unchanged']>> = {
      "MOCO's re-apply": [(name) => clusters.apply(name), 'unchanged'],
      "the patch of MOCO's partition controller": [(name) => clusters.patch(name, partition(2)), 'unchanged'],
      'partition 0': [(name) => clusters.patch(name, partition(0)), 'unchanged'],
      "MOCO's apply of a new template": [(name) => clusters.apply(name, newImage), pinned(3)],
      "MOCO's apply of more replicas": [(name) => clusters.apply(name, { spec: { replicas: 5 } }), pinned(5)],
      'a partition and an annotation': [
        (name) => clusters.patch(name, mergePatch(partition(1), { metadata: { annotations: { x: '1' } } }) as object),
        pinned(3),
      ],
      'RollingUpdate without a partition': [
        (name) => clusters.patch(name, { spec: { updateStrategy: rolling } }),
        'unchanged',
      ],
      'no strategy at all': [(name) => clusters.patch(name, { spec: { updateStrategy: null } }), 'unchanged'],
      'OnDelete while the label stays': [
        (name) => clusters.patch(name, { spec: { updateStrategy: onDelete } }),
        'unchanged',
      ],
      "MOCO's apply of a forced rolling update": [(name) => clusters.apply(name, forced), native],
      'the label removed': [
        (name) => clusters.patch(name, { metadata: { labels: { [newPodsLabel]: null } } }),
        { type: 'OnDelete' },
      ],
      'the label removed together with OnDelete': [
        (name) =>
          clusters.patch(name, { metadata: { labels: { [newPodsLabel]: null } }, spec: { updateStrategy: onDelete } }),
        { type: 'OnDelete' },
      ],
      'both labels removed together with RollingUpdate': [(name) => release(name), reset],
    };

    const release = (name: string): Promise<unknown> =>
      clusters.patch(name, {
        metadata: { labels: { [strategyLabel]: null, [newPodsLabel]: null } },
        spec: { updateStrategy: rolling },
      });

    for (const [title, [write, expected]] of Object.entries(writes)) {
      it(`${title} ${expected === 'unchanged' ? 'changes no field, and repeated not even the resourceVersion' : `comes to ${JSON.stringify(expected)}`}`, async () => {
        const name = await makeKept();
        await until('the StatefulSet controller has written all that it has to', async () => {
          const { metadata, status } = await clusters.read(name);
          return status?.observedGeneration === metadata.generation && status?.updatedReplicas === 3;
        });
        const before = await clusters.read(name);
        expect(await outcome(write(name))).to.equal('done');
        const after = await clusters.read(name);
        if (expected !== 'unchanged') {
          expect(after.spec.updateStrategy).to.deep.equal(expected);
          return;
        }
        // The first time managedFields say who has written it.
        expect(after.spec).to.deep.equal(before.spec);
        expect(after.metadata.generation).to.equal(before.metadata.generation);
        expect(await outcome(write(name))).to.equal('done');
        expect(await clusters.read(name)).to.deep.equal(after);
      });
    }

    it('pin the partition again when a rolling update is no longer forced', async () => {
      const name = await makeKept();
      await clusters.apply(name, forced);
      expect(await clusters.strategy(name)).to.deep.equal(native);
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal(pinned(3));
    });

    it('leave the partition to others after a release', async () => {
      const name = await makeKept();
      await release(name);
      await clusters.patch(name, partition(2));
      expect(await clusters.strategy(name)).to.deep.equal(pinned(2));
    });

    it('let a pod that is taken come back at the current revision, and no other go', async () => {
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
      await clusters.patch(name, { metadata: { labels: { [newPodsLabel]: null } } });
      await clusters.takePod(name, 1);
      const last = await allPods(name);
      expect(last.map(({ revision }) => revision)).to.deep.equal([currentRevision, updateRevision, currentRevision]);
    });

    async function allPods(name: string) {
      let found = await clusters.pods(name);
      await until('there are three pods', async () => {
        found = await clusters.pods(name);
        return found.length === 3;
      });
      return found;
    }

    it('show in a dry run who keeps the strategy, and change nothing', async () => {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      const before = await clusters.read(name);
      const probe = {
        metadata: { labels: keptLabel, annotations: { [admissionProbeAnnotation]: 'true' } },
        spec: { updateStrategy: onDelete },
      };
      const would = await clusters.dryRun(name, probe);
      expect(would.spec.updateStrategy).to.deep.equal(pinned(3));
      const seen = way === 'policy' ? 'true' : 'webhook';
      expect(would.metadata.annotations).to.have.property(admissionProbeAnnotation, seen);
      expect((await clusters.read(name)).metadata.generation).to.equal(before.metadata.generation);
    });

    it('refuse the label for another StatefulSet of the same name, by its uid alone', async () => {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      const patch = clusters.patch(name, { metadata: { uid: 'a-uid-of-before', labels: keptLabel } });
      expect(await outcome(patch)).to.match(/422 .*metadata\.uid: Invalid value/);
    });

    if (way === 'policy') {
      it('agree with our webhook, which is named as who keeps it', async () => {
        await ours.webhook.register('webhook');
        try {
          const name = await makeKept();
          const would = await clusters.dryRun(name, {
            metadata: { annotations: { [admissionProbeAnnotation]: 'true' } },
            spec: { updateStrategy: onDelete },
          });
          expect(would.spec.updateStrategy).to.deep.equal(pinned(3));
          expect(would.metadata.annotations).to.have.property(admissionProbeAnnotation, 'webhook');
        } finally {
          await ours.webhook.unregister('webhook');
        }
      });
    }

    it('agree with the webhook for partitions, as after an upgrade of MOCO', async () => {
      await ours.webhook.register('partition-driver');
      try {
        const name = await makeKept();
        await clusters.patch(name, partition(2));
        expect(await clusters.strategy(name)).to.deep.equal(pinned(3));
        await clusters.apply(name, newImage);
        expect(await clusters.strategy(name)).to.deep.equal(pinned(3));
        await release(name);
        expect(await clusters.strategy(name)).to.deep.equal(reset);
      } finally {
        await ours.webhook.unregister('partition-driver');
      }
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

    it('refuse the label for new pods, and lower the partition of one that has it', async () => {
      const name = await clusters.make();
      await clusters.patch(name, { metadata: { labels: { [strategyLabel]: 'OnDelete', ...keptLabel } } });
      await clusters.patch(name, partition(2));
      expect(await clusters.strategy(name)).to.deep.equal(pinned(2));
      const atOnDelete = names.get("MOCO's re-apply") ?? '';
      const labelling = outcome(clusters.dryRun(atOnDelete, kept));
      expect(await labelling).to.match(/422 .*only allowed for updateStrategy 'RollingUpdate'/);
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
