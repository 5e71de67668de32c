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

// What the webhooks change in a StatefulSet: the strategy, or the partition.

const texts = z.record(z.string(), z.string());
const owner = z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string() });

/**
 * A StatefulSet of apps/v1 in an AdmissionReview: the fields that are read have the expected shape, and everything else
 * is kept as it came.
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

/** One operation of RFC 6902. */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** What happens to a StatefulSet that is written. */
interface Mutation {
  /** What was found, as a word for the API server's audit log. */
  readonly because: string;
  /** Empty if nothing has to change. */
  readonly patch: readonly PatchOperation[];
}

/** The name of the MySQLCluster that is the only owner of a StatefulSet; `null` without an owner, or with several. */
function owningCluster({ metadata }: AdmittedStatefulSet): string | null {
  const [only, ...others] = metadata.ownerReferences ?? [];
  if (only === undefined || others.length > 0) return null;
  const [group] = only.apiVersion.split('/');
  return only.kind === clusterKind.kind && group === clusterKind.group ? only.name : null;
}

type Labelled = Pick<AdmittedStatefulSet['metadata'], 'labels' | 'annotations'>;

/** This program decides when its pods are replaced. */
export const isLabelled = ({ labels }: Labelled): boolean => labels?.[strategyLabel] === strategyOnDelete;

/** New pods have to start at the current revision. */
export const wantsRevisionsKept = (metadata: Labelled): boolean =>
  isLabelled(metadata) && metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision;

/** MOCO's native rolling update: nothing holds it back. */
export const isForced = ({ annotations }: Labelled): boolean =>
  annotations?.[forceRollingUpdateAnnotation] === annotationOn;

/** The API server's default for a StatefulSet that does not set it. */
const defaultReplicas = 1;

/** `null` if it is not a number of replicas; the API server refuses such an object after its webhooks. */
export function replicasOf({ replicas = null }: { readonly replicas?: unknown }): number | null {
  if (replicas === null) return defaultReplicas;
  return typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 ? replicas : null;
}

/** A JSON object; anything else counts as absent. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | null => (isObject(value) ? value : null);

/** `{type: OnDelete}`: with `rollingUpdate` beside it the API server would refuse the object. */
const onDelete = { type: strategyOnDelete } as const;

/**
 * Keeps the strategy of a StatefulSet with our label, whatever MOCO or its webhook has just set, unless MOCO's native
 * rolling update is forced. The strategy is OnDelete or, if the second label asks for new pods at the current revision,
 * RollingUpdate with partition = replicas. Neither replaces a pod. This webhook runs after MOCO's, so it sets either
 * immediately, whereas the admission policy needs two rounds for the second.
 *
 * Only the labels decide, so replicas of this program cannot disagree, whatever their feature gates are. No patch is
 * sent for an object that is already correct: MOCO's repeated apply must not become a change. A dry run of the
 * controller that asks what keeps the strategy gets the answer.
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

/** Never without its partition, which the API server would set to 0. */
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
 * Protects a StatefulSet from Kubernetes' own rolling update: every change sets the partition to the number of
 * replicas, so that nothing is replaced until somebody lowers the partition, which is the only change that passes. The
 * same applies to a new StatefulSet. MOCO's webhook `statefulset.kb.io` does the same (MOCO's design "Safe Rolling
 * Update of StatefulSet"); this is for installations without it. There are four differences: an update that changes
 * nothing leaves the partition as it is, so that repeated applies change nothing; a missing partition is no error;
 * other fields of `rollingUpdate` stay; and a StatefulSet at OnDelete needs no partition.
 *
 * With our label for new pods the partition stays at the number of replicas, no matter who lowers it. A StatefulSet
 * that is still at OnDelete also gets that partition, as from MOCO's webhook: when the admission policy runs again, the
 * partition shows it that it may set RollingUpdate.
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

/** Adds only what is missing around the partition. */
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
 * Everything that a writer can change except the partition and our own mark that changes the resourceVersion. Fields of
 * the API server are excluded: `status` has its own path, and `managedFields` of an apply without a change may differ
 * by a timestamp.
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
  /** Key in the audit log, after the webhook's name: what the webhook did. */
  readonly auditKey: string;
  /** `before` is `null` on CREATE, and if it can't be read. */
  readonly review: (after: AdmittedStatefulSet, before: AdmittedStatefulSet | null) => Mutation;
  /** By the finding: what the API server will refuse next, or accepts although it was hardly intended. */
  readonly warnings?: Readonly<Record<string, string>>;
}

/** By path. */
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
