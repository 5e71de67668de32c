import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { isObject } from '../base/json.ts';
import {
  admissionProbeAnnotation,
  annotationOn,
  clusterKind,
  forceRollingUpdateAnnotation,
  invalidatedIntentAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  probeSeenByWebhook,
  probeSent,
  strategyLabel,
  strategyOnDelete,
} from '../moco/names.ts';

// What the webhooks change in a StatefulSet: the update strategy, or the partition.

const texts = z.record(z.string(), z.string());
const owner = z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string() });

/**
 * A StatefulSet of apps/v1 in an AdmissionReview. The fields that this program reads have the expected shape, and all
 * other fields are kept unchanged.
 */
export const statefulSetShape = z.object({
  metadata: z.looseObject({
    labels: texts.nullish(),
    annotations: texts.nullish(),
    ownerReferences: z.array(owner).nullish(),
    finalizers: z.array(z.string()).nullish(),
  }),
  spec: z.looseObject({ replicas: z.unknown().optional(), updateStrategy: z.unknown().optional() }),
});

export type AdmittedStatefulSet = z.infer<typeof statefulSetShape>;

/** One operation of a JSON patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** The result of a review: the changes to the StatefulSet that a client writes. */
interface Mutation {
  /** What the webhook found, as a word for the API server's audit log. */
  readonly because: string;
  /** Empty if nothing has to change. */
  readonly patch: readonly PatchOperation[];
}

/**
 * The name of the MySQLCluster that is the only owner of a StatefulSet; `null` if there is no owner, a different owner,
 * or more than one.
 */
function owningCluster({ metadata }: AdmittedStatefulSet): string | null {
  const [only, ...others] = metadata.ownerReferences ?? [];
  if (only === undefined || others.length > 0) return null;
  const [group] = only.apiVersion.split('/');
  return only.kind === clusterKind.kind && group === clusterKind.group ? only.name : null;
}

type Labelled = Pick<AdmittedStatefulSet['metadata'], 'labels' | 'annotations'>;

/** Whether this program decides when the pods of the StatefulSet are replaced. */
export const isLabelled = ({ labels }: Labelled): boolean => labels?.[strategyLabel] === strategyOnDelete;

/** Whether new pods have to start at the current revision. */
export const wantsRevisionsKept = (metadata: Labelled): boolean =>
  isLabelled(metadata) && metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision;

/** Whether MOCO's native rolling update is forced, so that nothing holds the update back. */
export const isForced = ({ annotations }: Labelled): boolean =>
  annotations?.[forceRollingUpdateAnnotation] === annotationOn;

/** The number of replicas that the API server sets if a StatefulSet has no `spec.replicas`. */
const defaultReplicas = 1;

/**
 * The number of replicas; `null` if the value is not such a number. The API server refuses such an object after its
 * webhooks.
 */
export function replicasOf({ replicas = null }: { readonly replicas?: unknown }): number | null {
  if (replicas === null) return defaultReplicas;
  return typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 ? replicas : null;
}

/** The value as a JSON object. Any other value counts as absent. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | null => (isObject(value) ? value : null);

/**
 * The webhook writes the whole `updateStrategy`, because the API server refuses an object with `rollingUpdate` next to
 * OnDelete.
 */
const onDelete = { type: strategyOnDelete } as const;

/**
 * Keeps the strategy of a StatefulSet with our label, whatever MOCO or its webhook has just set, unless MOCO's native
 * rolling update is forced. The strategy is OnDelete or, if the second label requests new pods at the current revision,
 * RollingUpdate with partition = replicas. Under neither strategy does Kubernetes replace a pod. This webhook runs
 * after MOCO's, so it sets either strategy immediately, whereas the admission policy needs two rounds to set
 * RollingUpdate.
 *
 * Only the labels decide, so replicas of this program cannot disagree, even if their feature gates differ. An object
 * that is already correct gets no patch, so that MOCO's repeated apply does not become a change. The
 * controller's dry run, which checks that admission keeps the strategy, is answered by this webhook as well.
 */
export function mutateStatefulSet({ metadata, spec }: AdmittedStatefulSet): Mutation {
  if (!isLabelled(metadata)) return { because: 'not-labelled', patch: [] };
  if (isForced(metadata)) return { because: 'forced', patch: [] };
  const pinned = wantsRevisionsKept(metadata) ? pinnedAt(replicasOf(spec)) : null;
  const strategy = pinned ?? onDelete;
  const patch: PatchOperation[] = isDeepStrictEqual(spec.updateStrategy, strategy)
    ? []
    : [{ op: 'add', path: '/spec/updateStrategy', value: strategy }];
  if (metadata.annotations?.[admissionProbeAnnotation] === probeSent) patch.push(probeSeen);
  if (patch.length > 0) return { because: pinned === null ? 'labelled' : 'revisions-kept', patch };
  return { because: pinned === null ? 'already-on-delete' : 'already-kept', patch };
}

/** The strategy always contains the partition, because the API server would otherwise set the partition to 0. */
const pinnedAt = (replicas: number | null): object | null =>
  replicas === null ? null : { type: 'RollingUpdate', rollingUpdate: { partition: replicas } };

const probeSeen: PatchOperation = {
  op: 'add',
  path: `/metadata/annotations/${admissionProbeAnnotation.replaceAll('/', '~1')}`,
  value: probeSeenByWebhook,
};

const strategyPath = '/spec/updateStrategy';
const rollingUpdatePath = `${strategyPath}/rollingUpdate`;
const partitionPath = `${rollingUpdatePath}/partition`;

/**
 * Protects a StatefulSet from Kubernetes' own rolling update. Every change sets the partition to the number of
 * replicas, so that Kubernetes replaces no pod until a client lowers the partition. A change of nothing but the
 * partition passes. A new StatefulSet gets the partition as well. MOCO's webhook `statefulset.kb.io` also works in this
 * way (MOCO's design "Safe Rolling Update of StatefulSet"); this webhook is for installations without MOCO's webhook.
 * There are four differences: an update that changes nothing leaves the partition as it is, so that repeated applies
 * change nothing; a missing partition is not an error; other fields of `rollingUpdate` stay; and a StatefulSet at
 * OnDelete needs no partition.
 *
 * If the StatefulSet has our label for new pods, its partition stays at the number of replicas, even if a client lowers
 * it. A StatefulSet that is still at OnDelete also gets that partition, as it would from MOCO's webhook. When the
 * admission policy runs again, it can tell from the partition that it may set RollingUpdate.
 *
 * `before` is `null` on CREATE, and if the previous object is unknown.
 */
export function mutatePartition(after: AdmittedStatefulSet, before: AdmittedStatefulSet | null): Mutation {
  if (owningCluster(after) === null) return leave('not-of-a-cluster');
  const strategy = fieldsOf(after.spec.updateStrategy);
  if (isForced(after.metadata)) {
    const isThere = (strategy?.['rollingUpdate'] ?? null) !== null;
    return { because: 'forced', patch: isThere ? [{ op: 'remove', path: rollingUpdatePath }] : [] };
  }
  const isKept = wantsRevisionsKept(after.metadata);
  if (strategy?.['type'] === strategyOnDelete && !isKept) return leave('on-delete');
  const replicas = replicasOf(after.spec);
  if (replicas === null) return leave('replicas-unknown');
  const reset = (because: string): Mutation => ({ because, patch: partitionPatch(after, replicas) });
  if (isKept) return reset('revisions-kept');
  if (before === null) return reset('nothing-before');
  const [partition, earlierPartition] = [partitionIn(after), partitionIn(before)];
  if (partition === null || earlierPartition === null) return reset('changed');
  if (!isDeepStrictEqual(withoutPartition(after), withoutPartition(before))) return reset('changed');
  if (partition === earlierPartition) return leave('nothing-changed');
  return leave(partition < 0 || partition > replicas ? 'partition-out-of-range' : 'partition-alone');
}

const leave = (because: string): Mutation => ({ because, patch: [] });

function partitionIn({ spec }: AdmittedStatefulSet): number | null {
  const partition = fieldsOf(fieldsOf(spec.updateStrategy)?.['rollingUpdate'])?.['partition'];
  return typeof partition === 'number' && Number.isInteger(partition) ? partition : null;
}

/** A patch that adds only the fields that are missing for the partition. */
function partitionPatch(statefulSet: AdmittedStatefulSet, partition: number): readonly PatchOperation[] {
  if (partitionIn(statefulSet) === partition) return [];
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
 * Everything that a writer can change, except the partition and our own annotation that only changes the
 * resourceVersion. Fields that the API server sets are excluded: `status` has its own path, and `managedFields` may
 * differ by a timestamp after an apply without a change.
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

/** The path to which the API server sends updates of StatefulSets with our label. */
export const mutateStatefulSetPath = '/mutate-statefulset';
/** The path for every write to a StatefulSet of MOCO, in installations where MOCO has no webhook for them. */
export const mutatePartitionPath = '/mutate-partition';

export interface Reviewer {
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  /** The key for the result of the webhook in the audit log. The API server puts the webhook's name in front. */
  readonly auditKey: string;
  /** `before` is `null` on CREATE, and if the previous object cannot be read. */
  readonly review: (after: AdmittedStatefulSet, before: AdmittedStatefulSet | null) => Mutation;
  /**
   * Warnings by finding. After such a finding the API server refuses the object, or accepts it although the user hardly
   * intended the change.
   */
  readonly warnings?: Readonly<Record<string, string>>;
}

/** The reviewers, by the path to which the API server sends requests. */
export const reviewers: ReadonlyMap<string, Reviewer> = new Map<string, Reviewer>([
  [mutateStatefulSetPath, { operations: ['UPDATE'], auditKey: 'strategy', review: mutateStatefulSet }],
  [
    mutatePartitionPath,
    {
      operations: ['CREATE', 'UPDATE'],
      auditKey: 'partition',
      review: mutatePartition,
      warnings: {
        'replicas-unknown': 'expected spec.replicas to be a whole number from 0',
        'partition-out-of-range': 'expected spec.updateStrategy.rollingUpdate.partition to be from 0 to spec.replicas',
      },
    },
  ],
]);
