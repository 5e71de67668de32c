import { isDeepStrictEqual } from 'node:util';
import { invalidatedIntentAnnotation, strategyOnDelete } from '../moco/names.ts';
import {
  type AdmittedStatefulSet,
  fieldsOf,
  isForced,
  keepsRevisions,
  type Mutation,
  owningCluster,
  type PatchOperation,
  replicasOf,
} from './stateful-set.ts';

export type PartitionFinding =
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
