import { expect } from 'chai';
import {
  admissionProbeAnnotation,
  annotationOn,
  forceRollingUpdateAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  strategyLabel,
  strategyOnDelete,
} from '../../../src/moco/names.ts';
import { mergePatch } from '../merge-patch.ts';
import { type Admitted, admitStatefulSet, everybodyServes } from './admission.ts';
import { record, type StoredObject } from './stored-object.ts';

// The real thing has the same cases: test/cluster/new-pods-matrix.test.ts.

const owner = { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', name: 'test', uid: 'u' };
const onDelete = { type: 'OnDelete' };
const pinned = (partition: number): object => ({ type: 'RollingUpdate', rollingUpdate: { partition } });
const labels = { [strategyLabel]: strategyOnDelete };
const keptLabels = { ...labels, [newPodsLabel]: newPodsAtCurrentRevision };
const forced = { metadata: { annotations: { [forceRollingUpdateAnnotation]: annotationOn } } };

const statefulSet = (updateStrategy: object, itsLabels: object = labels): StoredObject =>
  ({
    metadata: { name: 'moco-test', namespace: 'default', labels: itsLabels, ownerReferences: [owner] },
    spec: { replicas: 3, template: {}, updateStrategy },
  }) as unknown as StoredObject;

for (const onDeleteKeeper of ['policy', 'webhook'] as const) {
  describe(`the simulated admission with new pods at the current revision, by the ${onDeleteKeeper}`, () => {
    const admit = (before: StoredObject, patch: object): Admitted =>
      admitStatefulSet(mergePatch(before, patch) as StoredObject, before, { ...everybodyServes, onDeleteKeeper });
    const admitted = (before: StoredObject, patch: object): StoredObject => {
      const result = admit(before, patch);
      if (result.outcome === 'refused') throw new Error(result.message);
      return result.object;
    };
    const strategy = (object: StoredObject): unknown => record(object['spec'])['updateStrategy'];
    const kept = statefulSet(pinned(3), keptLabels);

    it('goes there from OnDelete and back by the label alone', () => {
      const there = admitted(statefulSet(onDelete), { metadata: { labels: keptLabels } });
      expect(strategy(there)).to.deep.equal(pinned(3));
      expect(strategy(admitted(there, { metadata: { labels: { [newPodsLabel]: null } } }))).to.deep.equal(onDelete);
    });

    const writes: Readonly<Record<string, readonly [patch: object, strategy: object]>> = {
      'a lower partition': [{ spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } }, pinned(3)],
      'no partition': [{ spec: { updateStrategy: { rollingUpdate: null } } }, pinned(3)],
      OnDelete: [{ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } }, pinned(3)],
      'a new template': [{ spec: { template: { a: 'b' } } }, pinned(3)],
      'more replicas': [{ spec: { replicas: 5 } }, pinned(5)],
      'a release': [
        {
          metadata: { labels: { [strategyLabel]: null, [newPodsLabel]: null } },
          spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
        },
        pinned(3),
      ],
    };
    for (const [what, [patch, expected]] of Object.entries(writes)) {
      it(`makes ${JSON.stringify(expected)} of ${what}`, () => {
        expect(strategy(admitted(kept, patch))).to.deep.equal(expected);
      });
    }

    it('pins the partition again after a forced rolling update, which has none', () => {
      const native = mergePatch(statefulSet({ type: 'RollingUpdate' }, keptLabels), forced) as StoredObject;
      const ended = { metadata: { annotations: { [forceRollingUpdateAnnotation]: null } } };
      expect(strategy(admitted(native, ended))).to.deep.equal(pinned(3));
    });

    it('says in a dry run who keeps it', () => {
      const probe = { metadata: { labels: keptLabels, annotations: { [admissionProbeAnnotation]: 'true' } } };
      expect(admitted(statefulSet(onDelete), probe).metadata.annotations).to.deep.equal({
        [admissionProbeAnnotation]: onDeleteKeeper === 'policy' ? 'true' : 'webhook',
      });
    });
  });
}

describe('the simulated admission without a webhook that answers', () => {
  const admission = { ...everybodyServes, onDeleteKeeper: 'webhook', isProgramServing: () => false } as const;

  it('lets MOCO lower the partition of one whose new pods start at the current revision', () => {
    const kept = statefulSet(pinned(3), keptLabels);
    const lowered = mergePatch(kept, { spec: { updateStrategy: pinned(2) } }) as StoredObject;
    const result = admitStatefulSet(lowered, kept, admission);
    expect(result).to.deep.include({ outcome: 'admitted', object: lowered });
  });
});
