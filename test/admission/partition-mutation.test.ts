import { expect } from 'chai';
import { assert, constant, constantFrom, integer, oneof, property, record } from 'fast-check';
import type { AdmittedStatefulSet, PatchOperation } from '../../src/admission/mutations.ts';
import { mutatePartition } from '../../src/admission/mutations.ts';
import { jsonPatch } from '../support/json-patch.ts';
import { annotated, atPartition, mocoStatefulSet, newTemplate, ownedBy } from './stateful-sets.ts';

const forced = { 'moco.cybozu.com/force-rolling-update': 'true' };
const fence = { 'moco-rollout.io/invalidated-intent': 'a-1' };
const partition = (value: number): readonly PatchOperation[] => [
  { op: 'add', path: '/spec/updateStrategy/rollingUpdate/partition', value },
];
const rollingUpdate3: readonly PatchOperation[] = [
  { op: 'add', path: '/spec/updateStrategy/rollingUpdate', value: { partition: 3 } },
];
const removal: readonly PatchOperation[] = [{ op: 'remove', path: '/spec/updateStrategy/rollingUpdate' }];

const at = (partition: unknown, more: Parameters<typeof mocoStatefulSet>[0] = {}): AdmittedStatefulSet =>
  mocoStatefulSet({ ...more, spec: { updateStrategy: atPartition(partition) } });
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

/** A StatefulSet before and after, and the patch that it gets, if any. */
type Answered = readonly [
  before: AdmittedStatefulSet | null,
  after: AdmittedStatefulSet,
  patch?: readonly PatchOperation[],
];

const applyPatch = (to: AdmittedStatefulSet, patch: readonly PatchOperation[]): AdmittedStatefulSet =>
  jsonPatch(to, patch) as AdmittedStatefulSet;

describe('the partition mutation', () => {
  const answers: Readonly<Record<string, Readonly<Record<string, Answered>>>> = {
    'nothing-before': {
      'gives a new one partition = replicas': [null, strategy({ type: 'RollingUpdate' }), rollingUpdate3],
      'gives a new one partition = replicas whatever partition it brings': [null, at(1), partition(3)],
      'gives a new one without a strategy the whole of it': [
        null,
        strategy(undefined),
        [
          {
            op: 'add',
            path: '/spec/updateStrategy',
            value: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
          },
        ],
      ],
      'leaves a new one that begins so': [null, at(3)],
    },
    'partition-alone': {
      'lets a lower partition pass': [at(3), at(2)],
      'lets a higher partition pass': [at(0), at(3)],
      'lets a partition pass together with our own mark': [at(3), at(2, annotated(fence))],
    },
    'partition-out-of-range': {
      'lets a partition below 0 pass, for the API server to refuse': [at(3), at(-1)],
      'lets a partition above replicas pass': [at(3), at(4)],
    },
    'nothing-changed': {
      'leaves the partition where nothing changes': [at(1), at(1)],
      'leaves the partition where our own mark comes': [at(1), at(1, annotated(fence))],
      'leaves the partition where our own mark becomes another': [
        at(1, annotated({ ...fence, x: '1' })),
        at(1, annotated({ x: '1', 'moco-rollout.io/invalidated-intent': 'a-2' })),
      ],
      'leaves the partition where only the API server’s own fields differ': [
        mocoStatefulSet({ metadata: { resourceVersion: '1', generation: 1, managedFields: [{ time: 'a' }] } }),
        mocoStatefulSet({ metadata: { resourceVersion: '2', generation: 2, managedFields: [{ time: 'b' }] } }),
      ],
      'treats null and absent fields alike, such as labels': [
        mocoStatefulSet({ metadata: { labels: null, annotations: null, finalizers: null } }),
        mocoStatefulSet({ metadata: { labels: {}, annotations: {}, finalizers: [] } }),
      ],
    },
    changed: {
      'resets the partition with another template although it is lowered too': [
        at(3),
        strategy(atPartition(2), newTemplate),
        partition(3),
      ],
      'needs no patch where a change finds partition = replicas': [at(3), strategy(atPartition(3), newTemplate)],
      'resets the partition to the new number of replicas': [
        at(1),
        strategy(atPartition(1), { replicas: 5 }),
        partition(5),
      ],
      'resets the partition to no replicas, where a cluster goes offline': [
        at(3),
        strategy(atPartition(3), { replicas: 0 }),
        partition(0),
      ],
      'resets the partition with another type although it is lowered too': [
        strategy({ type: 'OnDelete', rollingUpdate: { partition: 3 } }),
        at(1),
        partition(3),
      ],
      'treats missing replicas as 1': [
        at(1),
        strategy(atPartition(0), { replicas: null, ...newTemplate }),
        partition(1),
      ],
      'gives the partition back that an update takes away': [
        at(0),
        strategy({ type: 'RollingUpdate' }),
        rollingUpdate3,
      ],
      'gives a rollingUpdate in the place of null': [
        at(0),
        strategy({ type: 'RollingUpdate', rollingUpdate: null }),
        rollingUpdate3,
      ],
      'resets a partition that comes where there was none': [strategy({ type: 'RollingUpdate' }), at(1), partition(3)],
      'resets a partition that comes where there was null': [at(null), at(1), partition(3)],
      'resets a partition that comes where there was no strategy': [strategy(undefined), at(1), partition(3)],
      'starts one that is released at partition = replicas': [
        mocoStatefulSet({
          metadata: { labels: { 'moco-rollout.io/strategy': 'OnDelete' } },
          spec: { updateStrategy: { type: 'OnDelete' } },
        }),
        strategy({ type: 'RollingUpdate', rollingUpdate: null }),
        rollingUpdate3,
      ],
      'starts one that is released with another partition at partition = replicas': [onDelete, at(0), partition(3)],
      'leaves one that is released with partition = replicas': [onDelete, at(3)],
      'gives the partition back when the force ends': [
        mocoStatefulSet({ ...annotated(forced), spec: { updateStrategy: { type: 'RollingUpdate' } } }),
        strategy({ type: 'RollingUpdate' }),
        rollingUpdate3,
      ],
      'resets the partition with another template': [at(0), strategy(atPartition(0), newTemplate), partition(3)],
      'resets the partition with an annotation': [at(0), at(0, annotated({ x: '1' })), partition(3)],
      'resets the partition with a label': [at(0), at(0, { metadata: { labels: { x: '1' } } }), partition(3)],
      'resets the partition with a finalizer': [at(0), at(0, { metadata: { finalizers: ['x'] } }), partition(3)],
      'resets the partition with another owner of the same kind': [
        at(0),
        at(0, ownedBy({ uid: 'another' })),
        partition(3),
      ],
      'resets the partition with another field of the strategy, which stays': [
        at(0),
        strategy({ type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 2 } }),
        partition(3),
      ],
      'gives a partition in the place of null': [at(0), at(null), partition(3)],
    },
    'on-delete': {
      'leaves one at OnDelete, which needs no partition': [at(0), strategy({ type: 'OnDelete' }, newTemplate)],
      'leaves one at OnDelete that has the label for new pods alone': [
        strategy({ type: 'OnDelete' }),
        mocoStatefulSet({
          metadata: { labels: { 'moco-rollout.io/new-pods': 'CurrentRevision' } },
          spec: { updateStrategy: { type: 'OnDelete' } },
        }),
      ],
      'leaves a new one at OnDelete': [null, onDelete],
    },
    'revisions-kept': {
      'pins the partition of one whose new pods start at the current revision, although only it is lowered': [
        kept(atPartition(3)),
        kept(atPartition(2)),
        partition(3),
      ],
      'leaves the pinned partition where it is': [kept(atPartition(3)), kept(atPartition(3))],
      'adds the partition to one that comes from OnDelete, as MOCO’s webhook does': [
        strategy({ type: 'OnDelete' }),
        kept({ type: 'OnDelete' }),
        rollingUpdate3,
      ],
    },
    forced: {
      'takes the pinned partition away where a rolling update is forced': [
        kept(atPartition(3)),
        kept(atPartition(3), { annotations: forced }),
        removal,
      ],
      'takes the partition away where a rolling update is forced': [at(3), mocoStatefulSet(annotated(forced)), removal],
      'takes the partition of a new one away where a rolling update is forced': [
        null,
        mocoStatefulSet(annotated(forced)),
        removal,
      ],
      'leaves a forced one without rollingUpdate': [
        mocoStatefulSet({ ...annotated(forced), spec: { updateStrategy: { type: 'RollingUpdate' } } }),
        mocoStatefulSet({
          ...annotated(forced),
          spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null }, ...newTemplate },
        }),
      ],
      'leaves a forced one without a strategy': [
        null,
        mocoStatefulSet({ ...annotated(forced), spec: { updateStrategy: undefined } }),
      ],
    },
    'replicas-unknown': {
      'leaves what has replicas that can’t be, for the API server to refuse': [
        at(0),
        strategy(atPartition(0), { replicas: -1, ...newTemplate }),
      ],
    },
  };
  for (const [because, all] of Object.entries(answers)) {
    for (const [sentence, [before, after, patch = []]] of Object.entries(all)) {
      it(sentence, () => expect(mutatePartition(after, before)).to.deep.equal({ because, patch }));
    }
  }

  const foreign = {
    'leaves what has no owner': ownedBy(),
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

  it('changes nothing when it gets its own result again', () => {
    assert(
      property(statefulSets, oneof(statefulSets, constant(null)), (after, before) => {
        const made = applyPatch(after, mutatePartition(after, before).patch);
        expect(mutatePartition(made, before).patch).to.deep.equal([]);
      }),
    );
  });

  it('leaves the result of an update unchanged if nothing else changes', () => {
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
