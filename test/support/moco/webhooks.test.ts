import { expect } from 'chai';
import { mergePatch } from '../merge-patch.ts';
import type { StatefulSet } from './objects.ts';
import { mutateStatefulSet } from './webhooks.ts';

const owner = { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', name: 'test', uid: 'cluster-1' };
const onDelete = { type: 'OnDelete' };
const reset = { outcome: 'rollingUpdate', rollingUpdate: { partition: 3 } };

function partition(value: number): object {
  return { type: 'RollingUpdate', rollingUpdate: { partition: value } };
}

function statefulSet(updateStrategy: object, change: object = {}): StatefulSet {
  const metadata = { name: 'moco-test', namespace: 'default', uid: 'set-1', resourceVersion: '1' };
  const base = { metadata: { ...metadata, ownerReferences: [owner] }, spec: { replicas: 3, updateStrategy } };
  return mergePatch(base, change) as StatefulSet;
}

const forced = { metadata: { annotations: { 'moco.cybozu.com/force-rolling-update': 'true' } } };
const annotated = { metadata: { annotations: { x: '1' } } };
const newTemplate = { spec: { template: { spec: { containers: [{ name: 'mysqld', image: 'new' }] } } } };

describe('test/support/moco: the webhook of StatefulSets', () => {
  const cases: Record<string, [StatefulSet, StatefulSet | null, object]> = {
    'gives a new one partition = replicas': [statefulSet({ type: 'RollingUpdate' }), null, reset],
    'leaves the partition that a new one brings': [statefulSet(partition(1)), null, { outcome: 'unchanged' }],
    'gives one without rollingUpdate a partition, whatever the type': [
      statefulSet(onDelete),
      statefulSet(partition(0)),
      reset,
    ],
    'keeps a change of the partition alone': [
      statefulSet(partition(2)),
      statefulSet(partition(3)),
      { outcome: 'unchanged' },
    ],
    'resets the partition with a new template': [
      statefulSet(partition(0), newTemplate),
      statefulSet(partition(0)),
      reset,
    ],
    'resets the partition with a new template even if the partition changes too': [
      statefulSet(partition(2), newTemplate),
      statefulSet(partition(3)),
      reset,
    ],
    'resets the partition with a change of metadata alone': [
      statefulSet(partition(0), annotated),
      statefulSet(partition(0)),
      reset,
    ],
    'resets the partition with no change at all': [statefulSet(partition(1)), statefulSet(partition(1)), reset],
    'takes rollingUpdate away where a rolling update is forced': [
      statefulSet(partition(3), forced),
      statefulSet(partition(3)),
      { outcome: 'rollingUpdate', rollingUpdate: null },
    ],
    'leaves a forced one without rollingUpdate': [
      statefulSet({ type: 'RollingUpdate' }, forced),
      statefulSet({ type: 'RollingUpdate' }, forced),
      { outcome: 'unchanged' },
    ],
    'leaves what no MySQLCluster owns': [
      statefulSet(onDelete, { metadata: { ownerReferences: [] } }),
      null,
      { outcome: 'unchanged' },
    ],
  };
  for (const [sentence, [after, before, expected]] of Object.entries(cases)) {
    it(sentence, () => {
      expect(mutateStatefulSet(after, before)).to.deep.equal(expected);
    });
  }

  it('panics at an explicit partition if the old object had none', () => {
    expect(mutateStatefulSet(statefulSet(partition(2)), statefulSet(onDelete)).outcome).to.equal('panic');
  });
});
