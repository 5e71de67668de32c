import { expect } from 'chai';
import {
  annotationOn,
  forceRollingUpdateAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  strategyLabel,
  strategyOnDelete,
} from '../../src/moco/names.ts';
import { sharedInstallation, startDeadlineMilliseconds, testDeadlineMilliseconds, until } from './moco-fixture.ts';
import { admissionBy, admissionWays, type OnDeleteAdmission } from './on-delete-admission.ts';
import { AppliedClusters, newImage, outcome } from './webhook-clusters.ts';

const onDelete = { type: 'OnDelete', rollingUpdate: null };
const rolling = { type: 'RollingUpdate', rollingUpdate: null };
const at = (partition: number): object => ({ type: 'RollingUpdate', rollingUpdate: { partition } });
const toPartition = (partition: number): object => ({ spec: { updateStrategy: { rollingUpdate: { partition } } } });
const adopted = { metadata: { labels: { [strategyLabel]: strategyOnDelete } }, spec: { updateStrategy: onDelete } };
const kept = { metadata: { labels: { [newPodsLabel]: newPodsAtCurrentRevision } } };
const noLongerKept = { metadata: { labels: { [newPodsLabel]: null } } };
const forced = { metadata: { annotations: { [forceRollingUpdateAnnotation]: annotationOn } } };

for (const way of admissionWays) {
  describe(`new pods at the current revision with our ${way}, and our webhook for partitions in place of MOCO’s`, function () {
    this.timeout(testDeadlineMilliseconds);
    let ours: OnDeleteAdmission;
    let clusters: AppliedClusters;

    before(async function installEverything() {
      this.timeout(startDeadlineMilliseconds);
      const moco = await sharedInstallation(false);
      clusters = new AppliedClusters(moco.client);
      ours = await admissionBy(way, moco);
      await ours.webhook.register('partition-driver');
    });

    after(async () => {
      await ours?.webhook.unregister('partition-driver');
      await ours?.stop();
    });

    async function makeKept(): Promise<string> {
      const name = await clusters.make();
      await clusters.patch(name, adopted);
      expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
      await clusters.patch(name, kept);
      expect(await clusters.strategy(name)).to.deep.equal(at(3));
      return name;
    }

    it('go there from OnDelete and back by the label alone', async () => {
      const name = await makeKept();
      await clusters.patch(name, noLongerKept);
      expect(await clusters.strategy(name)).to.deep.equal({ type: 'OnDelete' });
    });

    const writes: Readonly<Record<string, readonly [(name: string) => Promise<unknown>, object]>> = {
      'a lower partition': [(name) => clusters.patch(name, toPartition(2)), at(3)],
      'partition 0': [(name) => clusters.patch(name, toPartition(0)), at(3)],
      'RollingUpdate without a partition': [
        (name) => clusters.patch(name, { spec: { updateStrategy: rolling } }),
        at(3),
      ],
      'no strategy at all': [(name) => clusters.patch(name, { spec: { updateStrategy: null } }), at(3)],
      'OnDelete while the label stays': [(name) => clusters.patch(name, { spec: { updateStrategy: onDelete } }), at(3)],
      "MOCO's re-apply": [(name) => clusters.apply(name), at(3)],
      "MOCO's apply of a new template": [(name) => clusters.apply(name, newImage), at(3)],
      "MOCO's apply of more replicas": [(name) => clusters.apply(name, { spec: { replicas: 5 } }), at(5)],
      "MOCO's apply of a forced rolling update": [(name) => clusters.apply(name, forced), { type: 'RollingUpdate' }],
      'the end of a forced rolling update': [
        async (name) => {
          await clusters.apply(name, forced);
          await clusters.apply(name);
        },
        at(3),
      ],
      'both labels removed together with partition = replicas': [
        (name) =>
          clusters.patch(name, {
            metadata: { labels: { [strategyLabel]: null, [newPodsLabel]: null } },
            spec: { updateStrategy: at(3) },
          }),
        at(3),
      ],
    };
    for (const [title, [write, expected]] of Object.entries(writes)) {
      it(`${title} comes to ${JSON.stringify(expected)}`, async () => {
        const name = await makeKept();
        expect(await outcome(write(name))).to.equal('done');
        expect(await clusters.strategy(name)).to.deep.equal(expected);
      });
    }

    it('replace no pod, and a pod that is taken comes back at the current revision', async () => {
      const name = await makeKept();
      await until('there are three pods', async () => (await clusters.pods(name)).length === 3);
      const before = await clusters.pods(name);
      await clusters.apply(name, newImage);
      await until('the template has another revision', async () => {
        const { status } = await clusters.read(name);
        return status?.updateRevision !== status?.currentRevision;
      });
      await clusters.patch(name, toPartition(0));
      await clusters.takePod(name, 2);
      const after = await clusters.pods(name);
      expect(after.map(({ revision }) => revision)).to.deep.equal(before.map(({ revision }) => revision));
      expect(after.slice(0, 2)).to.deep.equal(before.slice(0, 2));
    });

    it('do not make MOCO’s writes depend on the process of the webhooks', async () => {
      const name = await makeKept();
      await ours.webhook.goAway();
      try {
        expect(await outcome(clusters.apply(name, newImage))).to.equal('done');
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
        const lowered = await outcome(clusters.patch(name, toPartition(2)));
        // The policy has pinned it again before that webhook would be asked.
        if (way === 'policy') expect(lowered).to.equal('done');
        else expect(lowered).to.match(/^500 .*failed calling webhook "partition\.moco-rollout\.io"/);
        expect(await clusters.strategy(name)).to.deep.equal(at(3));
      } finally {
        await ours.webhook.comeBack();
      }
    });
  });
}
