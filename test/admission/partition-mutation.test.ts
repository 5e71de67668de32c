import { expect } from 'chai';
import { assert, constant, constantFrom, integer, oneof, property, record } from 'fast-check';
import type { AdmittedStatefulSet, PatchOperation } from '../../src/admission/mutations.ts';
import { mutatePartition } from '../../src/admission/mutations.ts';
import { applyPatch } from './apply-patch.ts';
import { annotated, atPartition, mocoStatefulSet, newTemplate, ownedBy } from './stateful-sets.ts';

const forced = { 'moco.cybozu.com/force-rolling-update': 'true' };
const fence = { 'moco-rollout.io/invalidated-intent': 'a-1' };
const partition3: readonly PatchOperation[] = [
  { op: 'add', path: '/spec/updateStrategy/rollingUpdate/partition', value: 3 },
];
const rollingUpdate3: readonly PatchOperation[] = [
  { op: 'add', path: '/spec/updateStrategy/rollingUpdate', value: { partition: 3 } },
];
const removal: readonly PatchOperation[] = [{ op: 'remove', path: '/spec/updateStrategy/rollingUpdate' }];

const at = (partition: unknown): AdmittedStatefulSet =>
  mocoStatefulSet({ spec: { updateStrategy: atPartition(partition) } });
const strategy = (updateStrategy: unknown, more: Readonly<Record<string, unknown>> = {}): AdmittedStatefulSet =>
  mocoStatefulSet({ spec: { updateStrategy, ...more } });
const onDelete = strategy({ type: 'OnDelete' });

const kept = (updateStrategy: unknown, metadata: object = {}): AdmittedStatefulSet =>
  mocoStatefulSet({
    metadata: {
      labels: { 'moco-rollout.io/strategy': 'OnDelete', 'moco-rollout.io/new-pods': 'CurrentRevision' },
      ...metadata,
    },
    spec: { updateStrategy },
  });

interface Case {
  readonly before: AdmittedStatefulSet | null;
  readonly after: AdmittedStatefulSet;
  readonly because: string;
  readonly patch: readonly PatchOperation[];
}

describe('the partition mutation', () => {
  const cases: Readonly<Record<string, Case>> = {
    'gives a new one partition = replicas': {
      before: null,
      after: strategy({ type: 'RollingUpdate' }),
      because: 'nothing-before',
      patch: rollingUpdate3,
    },
    'gives a new one partition = replicas whatever partition it brings': {
      before: null,
      after: at(1),
      because: 'nothing-before',
      patch: partition3,
    },
    'gives a new one without a strategy the whole of it': {
      before: null,
      after: strategy(undefined),
      because: 'nothing-before',
      patch: [
        {
          op: 'add',
          path: '/spec/updateStrategy',
          value: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
        },
      ],
    },
    'leaves a new one that begins so': { before: null, after: at(3), because: 'nothing-before', patch: [] },
    'lets a lower partition pass': { before: at(3), after: at(2), because: 'partition-alone', patch: [] },
    'lets a higher partition pass': { before: at(0), after: at(3), because: 'partition-alone', patch: [] },
    'lets a partition pass together with our own mark': {
      before: at(3),
      after: mocoStatefulSet({ ...annotated(fence), spec: { updateStrategy: atPartition(2) } }),
      because: 'partition-alone',
      patch: [],
    },
    'lets a partition below 0 pass, for the API server to refuse': {
      before: at(3),
      after: at(-1),
      because: 'partition-out-of-range',
      patch: [],
    },
    'lets a partition above replicas pass': {
      before: at(3),
      after: at(4),
      because: 'partition-out-of-range',
      patch: [],
    },
    'leaves the partition where nothing changes': {
      before: at(1),
      after: at(1),
      because: 'nothing-changed',
      patch: [],
    },
    'leaves the partition where our own mark comes': {
      before: at(1),
      after: mocoStatefulSet({ ...annotated(fence), spec: { updateStrategy: atPartition(1) } }),
      because: 'nothing-changed',
      patch: [],
    },
    'leaves the partition where our own mark becomes another': {
      before: mocoStatefulSet({ ...annotated({ ...fence, x: '1' }), spec: { updateStrategy: atPartition(1) } }),
      after: mocoStatefulSet({
        ...annotated({ x: '1', 'moco-rollout.io/invalidated-intent': 'a-2' }),
        spec: { updateStrategy: atPartition(1) },
      }),
      because: 'nothing-changed',
      patch: [],
    },
    'leaves the partition where only the API server’s own fields differ': {
      before: mocoStatefulSet({ metadata: { resourceVersion: '1', generation: 1, managedFields: [{ time: 'a' }] } }),
      after: mocoStatefulSet({ metadata: { resourceVersion: '2', generation: 2, managedFields: [{ time: 'b' }] } }),
      because: 'nothing-changed',
      patch: [],
    },
    'resets the partition with another template although it is lowered too': {
      before: at(3),
      after: strategy(atPartition(2), newTemplate),
      because: 'changed',
      patch: partition3,
    },
    'needs no patch where a change finds partition = replicas': {
      before: at(3),
      after: strategy(atPartition(3), newTemplate),
      because: 'changed',
      patch: [],
    },
    'resets the partition to the new number of replicas': {
      before: at(1),
      after: strategy(atPartition(1), { replicas: 5 }),
      because: 'changed',
      patch: [{ op: 'add', path: '/spec/updateStrategy/rollingUpdate/partition', value: 5 }],
    },
    'resets the partition to no replicas, where a cluster goes offline': {
      before: at(3),
      after: strategy(atPartition(3), { replicas: 0 }),
      because: 'changed',
      patch: [{ op: 'add', path: '/spec/updateStrategy/rollingUpdate/partition', value: 0 }],
    },
    'resets the partition with another type although it is lowered too': {
      before: strategy({ type: 'OnDelete', rollingUpdate: { partition: 3 } }),
      after: at(1),
      because: 'changed',
      patch: partition3,
    },
    'takes null and nothing for the same where there are no labels and the like': {
      before: mocoStatefulSet({ metadata: { labels: null, annotations: null, finalizers: null } }),
      after: mocoStatefulSet({ metadata: { labels: {}, annotations: {}, finalizers: [] } }),
      because: 'nothing-changed',
      patch: [],
    },
    'takes replicas that aren’t given for 1': {
      before: at(1),
      after: strategy(atPartition(0), { replicas: null, ...newTemplate }),
      because: 'changed',
      patch: [{ op: 'add', path: '/spec/updateStrategy/rollingUpdate/partition', value: 1 }],
    },
    'gives the partition back that an update takes away': {
      before: at(0),
      after: strategy({ type: 'RollingUpdate' }),
      because: 'changed',
      patch: rollingUpdate3,
    },
    'gives a rollingUpdate in the place of null': {
      before: at(0),
      after: strategy({ type: 'RollingUpdate', rollingUpdate: null }),
      because: 'changed',
      patch: rollingUpdate3,
    },
    'resets a partition that comes where there was none': {
      before: strategy({ type: 'RollingUpdate' }),
      after: at(1),
      because: 'changed',
      patch: partition3,
    },
    'resets a partition that comes where there was null': {
      before: at(null),
      after: at(1),
      because: 'changed',
      patch: partition3,
    },
    'resets a partition that comes where there was no strategy': {
      before: strategy(undefined),
      after: at(1),
      because: 'changed',
      patch: partition3,
    },
    'starts one that is released at partition = replicas': {
      before: mocoStatefulSet({
        metadata: { labels: { 'moco-rollout.io/strategy': 'OnDelete' } },
        spec: { updateStrategy: { type: 'OnDelete' } },
      }),
      after: strategy({ type: 'RollingUpdate', rollingUpdate: null }),
      because: 'changed',
      patch: rollingUpdate3,
    },
    'starts one that is released with another partition at partition = replicas': {
      before: onDelete,
      after: at(0),
      because: 'changed',
      patch: partition3,
    },
    'leaves one that is released with partition = replicas': {
      before: onDelete,
      after: at(3),
      because: 'changed',
      patch: [],
    },
    'leaves one at OnDelete, which needs no partition': {
      before: at(0),
      after: strategy({ type: 'OnDelete' }, newTemplate),
      because: 'on-delete',
      patch: [],
    },
    'pins the partition of one whose new pods come up at the current revision, although it alone is lowered': {
      before: kept(atPartition(3)),
      after: kept(atPartition(2)),
      because: 'revisions-kept',
      patch: partition3,
    },
    'leaves the pinned partition where it is': {
      before: kept(atPartition(3)),
      after: kept(atPartition(3)),
      because: 'revisions-kept',
      patch: [],
    },
    'adds the partition to one that comes from OnDelete, as MOCO’s webhook does': {
      before: strategy({ type: 'OnDelete' }),
      after: kept({ type: 'OnDelete' }),
      because: 'revisions-kept',
      patch: rollingUpdate3,
    },
    'leaves one at OnDelete that has the label for new pods alone': {
      before: strategy({ type: 'OnDelete' }),
      after: mocoStatefulSet({
        metadata: { labels: { 'moco-rollout.io/new-pods': 'CurrentRevision' } },
        spec: { updateStrategy: { type: 'OnDelete' } },
      }),
      because: 'on-delete',
      patch: [],
    },
    'takes the pinned partition away where a rolling update is forced': {
      before: kept(atPartition(3)),
      after: kept(atPartition(3), { annotations: forced }),
      because: 'forced',
      patch: removal,
    },
    'leaves a new one at OnDelete': { before: null, after: onDelete, because: 'on-delete', patch: [] },
    'takes the partition away where a rolling update is forced': {
      before: at(3),
      after: mocoStatefulSet(annotated(forced)),
      because: 'forced',
      patch: removal,
    },
    'takes the partition of a new one away where a rolling update is forced': {
      before: null,
      after: mocoStatefulSet(annotated(forced)),
      because: 'forced',
      patch: removal,
    },
    'leaves a forced one without rollingUpdate': {
      before: mocoStatefulSet({ ...annotated(forced), spec: { updateStrategy: { type: 'RollingUpdate' } } }),
      after: mocoStatefulSet({
        ...annotated(forced),
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null }, ...newTemplate },
      }),
      because: 'forced',
      patch: [],
    },
    'leaves a forced one without a strategy': {
      before: null,
      after: mocoStatefulSet({ ...annotated(forced), spec: { updateStrategy: undefined } }),
      because: 'forced',
      patch: [],
    },
    'gives the partition back when the force ends': {
      before: mocoStatefulSet({ ...annotated(forced), spec: { updateStrategy: { type: 'RollingUpdate' } } }),
      after: strategy({ type: 'RollingUpdate' }),
      because: 'changed',
      patch: rollingUpdate3,
    },
    'leaves what has replicas that can’t be, for the API server to refuse': {
      before: at(0),
      after: strategy(atPartition(0), { replicas: -1, ...newTemplate }),
      because: 'replicas-unknown',
      patch: [],
    },
  };
  for (const [sentence, { before, after, because, patch }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(mutatePartition(after, before)).to.deep.equal({ because, patch });
    });
  }

  const resets: Readonly<Record<string, AdmittedStatefulSet>> = {
    'resets the partition with another template': strategy(atPartition(0), newTemplate),
    'resets the partition with an annotation': mocoStatefulSet({
      ...annotated({ x: '1' }),
      spec: { updateStrategy: atPartition(0) },
    }),
    'resets the partition with a label': mocoStatefulSet({
      metadata: { labels: { x: '1' } },
      spec: { updateStrategy: atPartition(0) },
    }),
    'resets the partition with a finalizer': mocoStatefulSet({
      metadata: { finalizers: ['x'] },
      spec: { updateStrategy: atPartition(0) },
    }),
    'resets the partition with another owner of the same kind': mocoStatefulSet({
      ...ownedBy({ uid: 'another' }),
      spec: { updateStrategy: atPartition(0) },
    }),
    'resets the partition with another field of the strategy, which stays': strategy({
      type: 'RollingUpdate',
      rollingUpdate: { partition: 0, maxUnavailable: 2 },
    }),
    'gives a partition in the place of null': at(null),
  };
  for (const [sentence, after] of Object.entries(resets)) {
    it(sentence, () => {
      expect(mutatePartition(after, at(0))).to.deep.equal({ because: 'changed', patch: partition3 });
    });
  }

  const foreign = {
    'leaves what nobody owns': ownedBy(),
    'leaves what has owners of another kind': ownedBy({ kind: 'Deployment' }),
    'leaves what is owned by a MySQLCluster of another group': ownedBy({ apiVersion: 'mysql.oracle.com/v2' }),
    'leaves what has another owner beside its MySQLCluster': ownedBy({}, { kind: 'Deployment' }),
  };
  for (const [sentence, owned] of Object.entries(foreign)) {
    it(sentence, () => {
      const after = mocoStatefulSet({ ...owned, spec: { updateStrategy: {} } });
      expect(mutatePartition(after, null)).to.deep.equal({ because: 'not-of-a-cluster', patch: [] });
    });
  }

  for (const value of ['false', 'True', '1', '']) {
    it(`treats force-rolling-update=${JSON.stringify(value)} as not forced, as MOCO does`, () => {
      const after = mocoStatefulSet(annotated({ 'moco.cybozu.com/force-rolling-update': value }));
      expect(mutatePartition(after, null)).to.deep.equal({ because: 'nothing-before', patch: [] });
    });
  }

  const strategies = oneof(
    constantFrom(undefined, null, {}, 'x', [], { type: 'RollingUpdate' }, { type: 'OnDelete' }),
    record(
      {
        type: constantFrom('RollingUpdate', 'OnDelete', ''),
        rollingUpdate: oneof(
          constantFrom(null, undefined, {}, 'x', []),
          record({ partition: oneof(integer({ min: -1, max: 6 }), constantFrom(null, undefined, '3', 1.5)) }),
          constant({ maxUnavailable: 1, partition: 2 }),
        ),
      },
      { requiredKeys: [] },
    ),
  );
  const statefulSets = record({
    updateStrategy: strategies,
    replicas: constantFrom(0, 1, 3, 5, null, undefined, -1, '3'),
    image: constantFrom('a', 'b'),
    isForced: constantFrom(true, false),
  }).map(({ updateStrategy, replicas, image, isForced }) =>
    mocoStatefulSet({ ...annotated(isForced ? forced : {}), spec: { updateStrategy, replicas, template: image } }),
  );

  it('changes nothing when it is asked again about what it made', () => {
    assert(
      property(statefulSets, oneof(statefulSets, constant(null)), (after, before) => {
        const made = applyPatch(after, mutatePartition(after, before).patch);
        expect(mutatePartition(made, before).patch).to.deep.equal([]);
      }),
    );
  });

  it('leaves what an update made as it is when nothing changes after it', () => {
    assert(
      property(statefulSets, oneof(statefulSets, constant(null)), (after, before) => {
        const made = applyPatch(after, mutatePartition(after, before).patch);
        expect(mutatePartition(structuredClone(made), made).patch).to.deep.equal([]);
      }),
    );
  });

  it('never lets another template begin to roll by itself', () => {
    assert(
      property(statefulSets, oneof(statefulSets, constant(null)), (after, before) => {
        const { because, patch } = mutatePartition(after, before);
        if (before?.spec['template'] === after.spec['template']) return;
        if (['forced', 'on-delete', 'replicas-unknown'].includes(because)) return;
        const made = applyPatch(after, patch);
        expect(made.spec.updateStrategy).to.have.nested.property('rollingUpdate.partition', made.spec.replicas ?? 1);
      }),
    );
  });
});
