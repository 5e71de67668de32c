import { mutatePartition, type PartitionFinding } from './partition-mutation.ts';
import type { AdmittedStatefulSet, PatchOperation } from './stateful-set.ts';
import { mutateStatefulSet } from './statefulset-mutation.ts';

/** Where the API server sends updates of StatefulSets that carry our label. */
export const mutateStatefulSetPath = '/mutate-statefulset';
/** Where it sends every write to a StatefulSet of MOCO's where MOCO has no webhook of its own for them. */
export const mutatePartitionPath = '/mutate-partition';

export type Operation = 'CREATE' | 'UPDATE';

export interface StatefulSetRequest {
  readonly namespace: string;
  readonly statefulSet: AdmittedStatefulSet;
  /** `null` on CREATE, and where it can't be read. */
  readonly before: AdmittedStatefulSet | null;
}

export interface Review {
  /** For the audit log. */
  readonly because: string;
  /** Empty where the object stays as it is. */
  readonly patch: readonly PatchOperation[];
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
  [mutateStatefulSetPath, { operations: ['UPDATE'], auditKey: 'strategy', review: reviewStrategy }],
  [mutatePartitionPath, { operations: ['CREATE', 'UPDATE'], auditKey: 'partition', review: reviewPartition }],
]);

function reviewStrategy({ statefulSet: { metadata, spec } }: StatefulSetRequest): Review {
  const mutation = mutateStatefulSet({ metadata, spec });
  return { because: mutation.because, patch: mutation.kind === 'patched' ? mutation.patch : [] };
}

function reviewPartition({ statefulSet, before }: StatefulSetRequest): Review {
  const mutation = mutatePartition(statefulSet, before);
  const warning = partitionWarning(mutation.because);
  return warning === null ? mutation : { ...mutation, warning };
}

/** What the API server refuses next, or takes although it hardly is what was meant. */
function partitionWarning(because: PartitionFinding): string | null {
  switch (because) {
    case 'replicas-unknown':
      return 'moco-rollout changed nothing: expected spec.replicas to be a whole number from 0';
    case 'partition-out-of-range':
      return 'moco-rollout changed nothing: expected spec.updateStrategy.rollingUpdate.partition to be from 0 to spec.replicas';
    case 'not-of-a-cluster':
    case 'forced':
    case 'on-delete':
    case 'revisions-kept':
    case 'nothing-before':
    case 'partition-alone':
    case 'nothing-changed':
    case 'changed':
      return null;
  }
}
