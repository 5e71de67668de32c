import { mutatePartition, type PartitionFinding } from './partition-mutation.ts';
import type { AdmittedStatefulSet, Mutation } from './stateful-set.ts';
import { mutateStatefulSet } from './statefulset-mutation.ts';

/** Where the API server sends updates of StatefulSets that carry our label. */
export const mutateStatefulSetPath = '/mutate-statefulset';
/** Where it sends every write to a StatefulSet of MOCO's where MOCO has no webhook of its own for them. */
export const mutatePartitionPath = '/mutate-partition';

export type Operation = 'CREATE' | 'UPDATE';

export interface StatefulSetRequest {
  readonly statefulSet: AdmittedStatefulSet;
  /** `null` on CREATE, and where it can't be read. */
  readonly before: AdmittedStatefulSet | null;
}

export interface Review extends Mutation<string> {
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
