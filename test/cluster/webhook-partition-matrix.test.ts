import { expect } from 'chai';
import {
  annotationOn,
  forceRollingUpdateAnnotation,
  invalidatedIntentAnnotation,
  strategyLabel,
} from '../../src/moco/names.ts';
import {
  type Installed,
  sharedInstallation,
  startDeadlineMilliseconds,
  testDeadlineMilliseconds,
  until,
} from './moco-fixture.ts';
import { AppliedClusters, newImage, outcome } from './webhook-clusters.ts';
import { OwnWebhook } from './webhook-fixture.ts';

const rolling = { type: 'RollingUpdate', rollingUpdate: null };
const onDelete = { type: 'OnDelete', rollingUpdate: null };
const at = (partition: number): object => ({ type: 'RollingUpdate', rollingUpdate: { partition } });
/** What Kubernetes rolls by itself. */
const native = { type: 'RollingUpdate' };
const forced = { metadata: { annotations: { [forceRollingUpdateAnnotation]: annotationOn } } };
const taken = { metadata: { labels: { [strategyLabel]: 'OnDelete' } }, spec: { updateStrategy: onDelete } };

/** A strategy, a refusal, or a write without an effect. */
type Result = object | RegExp | 'unchanged';

type Write = (name: string) => Promise<unknown>;

describe('our webhook for partitions in place of MOCO’s', function () {
  this.timeout(testDeadlineMilliseconds);
  let moco: Installed;
  let ours: OwnWebhook;
  let clusters: AppliedClusters;

  before(async function installEverything() {
    this.timeout(startDeadlineMilliseconds);
    moco = await sharedInstallation(false);
    clusters = new AppliedClusters(moco.client);
    ours = await OwnWebhook.start(moco.controlPlane, moco.client);
    await ours.register('webhook');
    await ours.register('partition-driver');
  });

  after(async () => {
    for (const configuration of ['webhook', 'partition-driver'] as const) await ours?.unregister(configuration);
    await ours?.stop();
  });

  const writes = {
    "MOCO's re-apply": (name) => clusters.apply(name),
    "MOCO's apply of a new template": (name) => clusters.apply(name, newImage),
    "MOCO's apply of more replicas": (name) => clusters.apply(name, { spec: { replicas: 5 } }),
    "MOCO's apply of none, where the cluster is offline": (name) => clusters.apply(name, { spec: { offline: true } }),
    "MOCO's apply of a forced rolling update": (name) => clusters.apply(name, forced),
    'an annotation of anybody': (name) => clusters.patch(name, { metadata: { annotations: { x: '1' } } }),
    'a finalizer of anybody': (name) => clusters.patch(name, { metadata: { finalizers: ['example.com/keep'] } }),
    'our own mark': (name) =>
      clusters.patch(name, { metadata: { annotations: { [invalidatedIntentAnnotation]: 'a-1' } } }),
    'a partition': (name) => clusters.patch(name, { spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } }),
    'a partition and an annotation': (name) =>
      clusters.patch(name, {
        metadata: { annotations: { x: '1' } },
        spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
      }),
    'a partition above replicas': (name) =>
      clusters.patch(name, { spec: { updateStrategy: { rollingUpdate: { partition: 7 } } } }),
    'a partition below 0': (name) =>
      clusters.patch(name, { spec: { updateStrategy: { rollingUpdate: { partition: -1 } } } }),
    'RollingUpdate without a partition': (name) => clusters.patch(name, { spec: { updateStrategy: rolling } }),
    'no strategy at all': (name) => clusters.patch(name, { spec: { updateStrategy: null } }),
    'OnDelete without the label': (name) => clusters.patch(name, { spec: { updateStrategy: onDelete } }),
    'the label and OnDelete': (name) => clusters.patch(name, taken),
    'the label removed together with RollingUpdate': (name) =>
      clusters.patch(name, { metadata: { labels: { [strategyLabel]: null } }, spec: { updateStrategy: rolling } }),
    'the label removed together with partition = replicas': (name) =>
      clusters.patch(name, { metadata: { labels: { [strategyLabel]: null } }, spec: { updateStrategy: at(3) } }),
  } as const satisfies Record<string, Write>;

  type Title = keyof typeof writes;

  const rollingRows: Readonly<Record<Title, Result>> = {
    "MOCO's re-apply": 'unchanged',
    "MOCO's apply of a new template": at(3),
    "MOCO's apply of more replicas": at(5),
    "MOCO's apply of none, where the cluster is offline": at(0),
    "MOCO's apply of a forced rolling update": native,
    'an annotation of anybody': at(3),
    'a finalizer of anybody': at(3),
    'our own mark': at(1),
    'a partition': at(2),
    'a partition and an annotation': at(3),
    'a partition above replicas': at(7),
    'a partition below 0': /422 .*must be greater than or equal to 0/,
    'RollingUpdate without a partition': at(3),
    // The API server's own default is there before any webhook is asked: it is an update of the partition alone.
    'no strategy at all': at(0),
    'OnDelete without the label': { type: 'OnDelete' },
    'the label and OnDelete': { type: 'OnDelete' },
    'the label removed together with RollingUpdate': at(3),
    'the label removed together with partition = replicas': at(3),
  };

  const labelledRows: Readonly<Record<Title, Result>> = {
    "MOCO's re-apply": 'unchanged',
    "MOCO's apply of a new template": { type: 'OnDelete' },
    "MOCO's apply of more replicas": { type: 'OnDelete' },
    "MOCO's apply of none, where the cluster is offline": { type: 'OnDelete' },
    "MOCO's apply of a forced rolling update": native,
    'an annotation of anybody': { type: 'OnDelete' },
    'a finalizer of anybody': { type: 'OnDelete' },
    'our own mark': { type: 'OnDelete' },
    'a partition': { type: 'OnDelete' },
    'a partition and an annotation': { type: 'OnDelete' },
    'a partition above replicas': { type: 'OnDelete' },
    'a partition below 0': { type: 'OnDelete' },
    'RollingUpdate without a partition': { type: 'OnDelete' },
    'no strategy at all': { type: 'OnDelete' },
    'OnDelete without the label': 'unchanged',
    'the label and OnDelete': 'unchanged',
    'the label removed together with RollingUpdate': at(3),
    'the label removed together with partition = replicas': at(3),
  };

  it('starts a new StatefulSet at partition = replicas', async () => {
    expect(await clusters.strategy(await clusters.make())).to.deep.equal(at(3));
  });

  describe('at partition 1', () => {
    for (const [title, expected] of Object.entries(rollingRows)) {
      it(`${title} ${reported(expected)}`, async () => {
        const name = await clusters.make();
        await clusters.patch(name, { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } });
        await check(name, title as Title, expected);
      });
    }

    it('sets partition = replicas after a forced rolling update ends', async () => {
      const name = await clusters.make();
      await clusters.apply(name, forced);
      expect(await clusters.strategy(name)).to.deep.equal(native);
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal(at(3));
    });

    it('changes the resourceVersion when our annotation is written', async () => {
      const name = await clusters.make();
      const { metadata } = await settled(name);
      await writes['our own mark'](name);
      expect((await clusters.read(name)).metadata.resourceVersion).not.to.equal(metadata.resourceVersion);
    });
  });

  describe('at OnDelete with our label', () => {
    for (const [title, expected] of Object.entries(labelledRows)) {
      it(`${title} ${reported(expected)}`, async () => {
        const name = await clusters.make();
        await clusters.patch(name, taken);
        // The first apply makes MOCO the owner of the type that the taking patch owned; from then on nothing is new.
        await clusters.apply(name);
        await check(name, title as Title, expected);
      });
    }

    it('restores OnDelete after a forced rolling update ends', async () => {
      const name = await clusters.make();
      await clusters.patch(name, taken);
      await clusters.apply(name, forced);
      expect(await clusters.strategy(name)).to.deep.equal(native);
      await clusters.apply(name);
      expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
    });
  });

  async function check(name: string, title: Title, expected: Result): Promise<void> {
    const before = await settled(name);
    const came = await outcome(writes[title](name));
    const after = await clusters.read(name);
    if (expected === 'unchanged') {
      expect(came).to.equal('done');
      expect(after).to.deep.equal(before);
    } else if (expected instanceof RegExp) {
      expect(came).to.match(expected);
      expect(after).to.deep.equal(before);
    } else {
      expect(came).to.equal('done');
      expect(after.spec.updateStrategy).to.deep.equal(expected);
    }
  }

  /** Once the StatefulSet controller has written all that it has to. */
  async function settled(name: string) {
    let found = await clusters.read(name);
    await until('the StatefulSet controller has looked at it', async () => {
      found = await clusters.read(name);
      const { metadata, status } = found;
      return status?.observedGeneration === metadata.generation && status?.updatedReplicas === 3;
    });
    return found;
  }
});

function reported(expected: Result): string {
  if (expected === 'unchanged') return 'changes nothing, not even the resourceVersion';
  if (expected instanceof RegExp) return 'is refused';
  const { type, rollingUpdate } = expected as { type: string; rollingUpdate?: { partition: number } };
  if (type === 'OnDelete') return 'comes to OnDelete';
  return rollingUpdate === undefined
    ? 'comes to a rolling update of Kubernetes’ own'
    : `comes to partition ${rollingUpdate.partition}`;
}
