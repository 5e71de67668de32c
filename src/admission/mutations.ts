import { isDeepStrictEqual } from 'node:util';
import {
  admissionProbeAnnotation,
  invalidatedIntentAnnotation,
  probeSeenByWebhook,
  probeSent,
  strategyOnDelete,
} from '../moco/names.ts';
import {
  type AdmittedStatefulSet,
  fieldsOf,
  isForced,
  isLabelled,
  keepsRevisions,
  type Mutation,
  owningCluster,
  type PatchOperation,
  replicasOf,
} from './stateful-set.ts';

type StrategyFinding = 'labelled' | 'revisions-kept' | 'already-on-delete' | 'already-kept' | 'not-labelled' | 'forced';

/** `{type: OnDelete}`: with `rollingUpdate` beside it the API server would refuse the object. */
const onDelete = { type: strategyOnDelete } as const;

/**
 * Keeps the strategy of a StatefulSet that carries our label, whatever MOCO or its webhook just made of it, unless
 * MOCO's native rolling update is forced: OnDelete, or RollingUpdate with partition = replicas where the second label
 * asks for new pods at the current revision. Both replace nobody. This webhook runs after MOCO's, so it sets either at
 * once, where the admission policy needs two rounds for the second.
 *
 * The labels alone decide, so replicas of this program can't disagree, whatever their feature gates say. A patch of an
 * object that is right already would be empty, and then none is sent: MOCO's repeated apply must not become a change. A
 * dry run of the controller that asks who keeps the strategy is told.
 */
export function mutateStatefulSet({ metadata, spec }: AdmittedStatefulSet): Mutation<StrategyFinding> {
  if (!isLabelled(metadata)) return { because: 'not-labelled', patch: [] };
  if (isForced(metadata)) return { because: 'forced', patch: [] };
  const pinned = keepsRevisions(metadata) ? pinnedAt(replicasOf(spec)) : null;
  const strategy = pinned ?? onDelete;
  const patch: PatchOperation[] = isDeepStrictEqual(spec.updateStrategy, strategy)
    ? []
    : [{ op: 'add', path: '/spec/updateStrategy', value: strategy }];
  if (metadata.annotations?.[admissionProbeAnnotation] === probeSent) patch.push(probeSeen);
  if (patch.length > 0) return { because: pinned === null ? 'labelled' : 'revisions-kept', patch };
  return { because: pinned === null ? 'already-on-delete' : 'already-kept', patch };
}

/** Never without its partition: the API server would make that 0. */
const pinnedAt = (replicas: number | null): object | null =>
  replicas === null ? null : { type: 'RollingUpdate', rollingUpdate: { partition: replicas } };

const probeSeen: PatchOperation = {
  op: 'add',
  path: `/metadata/annotations/${admissionProbeAnnotation.replaceAll('/', '~1')}`,
  value: probeSeenByWebhook,
};

type PartitionFinding =
  | 'not-of-a-cluster'
  | 'forced'
  | 'on-delete'
  | 'revisions-kept'
  | 'replicas-unknown'
  | 'nothing-before'
  | 'partition-alone'
  | 'partition-out-of-range'
  | 'nothing-changed'
  | 'changed';

const strategyPath = '/spec/updateStrategy';
const rollingUpdatePath = `${strategyPath}/rollingUpdate`;
const partitionPath = `${rollingUpdatePath}/partition`;

/**
 * Holds a StatefulSet back from Kubernetes' own rolling update: whatever changes it sets the partition to the number of
 * its replicas, so that nothing is replaced until somebody lowers the partition, which is the one change that passes.
 * So does a new one begin. It is what MOCO's webhook `statefulset.kb.io` does, for installations without it (MOCO's
 * design "Safe Rolling Update of StatefulSet"), but for four things: an update that changes nothing leaves the
 * partition where it is, so that repeated applies are none; a partition that isn't there is no error; other fields of
 * `rollingUpdate` stay; and one at OnDelete needs no partition.
 *
 * With our label for new pods the partition stays at the number of replicas, whoever lowers it. One that is still at
 * OnDelete gets that partition as well, as from MOCO's webhook: from it the admission policy, which is asked again,
 * sees that it may set RollingUpdate.
 *
 * `before` is `null` on CREATE, and where nothing is known of it.
 */
export function mutatePartition(
  after: AdmittedStatefulSet,
  before: AdmittedStatefulSet | null,
): Mutation<PartitionFinding> {
  if (owningCluster(after) === null) return leave('not-of-a-cluster');
  const strategy = fieldsOf(after.spec.updateStrategy);
  if (isForced(after.metadata)) {
    const isThere = (strategy?.['rollingUpdate'] ?? null) !== null;
    return { because: 'forced', patch: isThere ? [{ op: 'remove', path: rollingUpdatePath }] : [] };
  }
  const isKept = keepsRevisions(after.metadata);
  if (strategy?.['type'] === strategyOnDelete && !isKept) return leave('on-delete');
  const replicas = replicasOf(after.spec);
  if (replicas === null) return leave('replicas-unknown');
  const reset = (because: PartitionFinding): Mutation<PartitionFinding> => ({
    because,
    patch: partitionPatch(after, replicas),
  });
  if (isKept) return reset('revisions-kept');
  if (before === null) return reset('nothing-before');
  const partition = partitionOf(after);
  const earlierPartition = partitionOf(before);
  if (partition === null || earlierPartition === null) return reset('changed');
  if (!isDeepStrictEqual(withoutPartition(after), withoutPartition(before))) return reset('changed');
  if (partition === earlierPartition) return leave('nothing-changed');
  return leave(partition < 0 || partition > replicas ? 'partition-out-of-range' : 'partition-alone');
}

function leave(because: PartitionFinding): Mutation<PartitionFinding> {
  return { because, patch: [] };
}

function partitionOf({ spec }: AdmittedStatefulSet): number | null {
  const partition = fieldsOf(fieldsOf(spec.updateStrategy)?.['rollingUpdate'])?.['partition'];
  return typeof partition === 'number' && Number.isInteger(partition) ? partition : null;
}

/** Adds what is missing around the partition and nothing else. */
function partitionPatch(statefulSet: AdmittedStatefulSet, partition: number): readonly PatchOperation[] {
  if (partitionOf(statefulSet) === partition) return [];
  const strategy = fieldsOf(statefulSet.spec.updateStrategy);
  if (strategy === null) {
    return [{ op: 'add', path: strategyPath, value: { type: 'RollingUpdate', rollingUpdate: { partition } } }];
  }
  if (fieldsOf(strategy['rollingUpdate']) === null) {
    return [{ op: 'add', path: rollingUpdatePath, value: { partition } }];
  }
  return [{ op: 'add', path: partitionPath, value: partition }];
}

/**
 * All that a writer can change but the partition, and but our own mark that makes a resourceVersion move. What the API
 * server keeps itself is none of it: `status` has a path of its own, and `managedFields` of an apply without a change
 * may differ by a timestamp.
 */
function withoutPartition({ metadata, spec }: AdmittedStatefulSet): object {
  const { [invalidatedIntentAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const strategy = fieldsOf(spec.updateStrategy);
  const { partition: __, ...rollingUpdate } = fieldsOf(strategy?.['rollingUpdate']) ?? {};
  return {
    labels: metadata.labels ?? {},
    annotations,
    ownerReferences: metadata.ownerReferences ?? [],
    finalizers: metadata.finalizers ?? [],
    spec: { ...spec, updateStrategy: { ...strategy, rollingUpdate } },
  };
}

/** Where the API server sends updates of StatefulSets that carry our label. */
export const mutateStatefulSetPath = '/mutate-statefulset';
/** Where it sends every write to a StatefulSet of MOCO's where MOCO has no webhook of its own for them. */
export const mutatePartitionPath = '/mutate-partition';

type Operation = 'CREATE' | 'UPDATE';

interface StatefulSetRequest {
  readonly statefulSet: AdmittedStatefulSet;
  /** `null` on CREATE, and where it can't be read. */
  readonly before: AdmittedStatefulSet | null;
}

interface Review extends Mutation<string> {
  /** A sentence without its full stop, for whoever sent the request. */
  readonly warning?: string;
}

/** What one path is for. */
export interface Reviewer {
  readonly operations: readonly Operation[];
  /** Key in the audit log, after the webhook's name: what was made of the request. */
  readonly auditKey: string;
  readonly review: (request: StatefulSetRequest) => Review;
}

/** By path. */
export const reviewers: ReadonlyMap<string, Reviewer> = new Map([
  [
    mutateStatefulSetPath,
    { operations: ['UPDATE'], auditKey: 'strategy', review: ({ statefulSet }) => mutateStatefulSet(statefulSet) },
  ],
  [mutatePartitionPath, { operations: ['CREATE', 'UPDATE'], auditKey: 'partition', review: reviewPartition }],
]);

function reviewPartition({ statefulSet, before }: StatefulSetRequest): Review {
  const mutation = mutatePartition(statefulSet, before);
  const warning = warnings[mutation.because];
  return warning === undefined ? mutation : { ...mutation, warning: `moco-rollout changed nothing: ${warning}` };
}

/** What the API server refuses next, or takes although it hardly is what was meant. */
const warnings: Readonly<Partial<Record<PartitionFinding, string>>> = {
  'replicas-unknown': 'expected spec.replicas to be a whole number from 0',
  'partition-out-of-range': 'expected spec.updateStrategy.rollingUpdate.partition to be from 0 to spec.replicas',
};
