import { isDeepStrictEqual } from 'node:util';
import {
  annotationOn,
  forceRollingUpdateAnnotation,
  invalidatedIntentAnnotation,
  strategyOnDelete,
} from '../moco/names.ts';
import { type AdmittedStatefulSet, fieldsOf, owningCluster, type PatchOperation } from './stateful-set.ts';

/** What was found. The word goes into the API server's audit log. */
export type PartitionFinding =
  | 'not-of-a-cluster'
  | 'forced'
  | 'on-delete'
  | 'replicas-unknown'
  | 'nothing-before'
  | 'partition-alone'
  | 'partition-out-of-range'
  | 'nothing-changed'
  | 'changed';

export interface PartitionMutation {
  readonly because: PartitionFinding;
  /** Empty where everything is as it should be. */
  readonly patch: readonly PatchOperation[];
}

const strategyPath = '/spec/updateStrategy';
const rollingUpdatePath = `${strategyPath}/rollingUpdate`;
const partitionPath = `${rollingUpdatePath}/partition`;
/** What the API server makes of a StatefulSet that doesn't say. */
const defaultReplicas = 1;

/**
 * Holds a StatefulSet back from Kubernetes' own rolling update: whatever changes it sets the partition to the number
 * of its replicas, so that nothing is replaced until somebody lowers the partition, which is the one change that
 * passes. So does a new one begin. It is what MOCO's webhook `statefulset.kb.io` does, for installations without it
 * (MOCO's design "Safe Rolling Update of StatefulSet"), but for four things: an update that changes nothing leaves
 * the partition where it is, so that repeated applies are none; a partition that isn't there is no error; other fields
 * of `rollingUpdate` stay; and one at OnDelete needs no partition.
 *
 * `before` is `null` on CREATE, and where nothing is known of it.
 */
export function mutatePartition(after: AdmittedStatefulSet, before: AdmittedStatefulSet | null): PartitionMutation {
  if (owningCluster(after) === null) return leave('not-of-a-cluster');
  const strategy = fieldsOf(after.spec.updateStrategy);
  if (after.metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn) {
    const isThere = (strategy?.['rollingUpdate'] ?? null) !== null;
    return { because: 'forced', patch: isThere ? [{ op: 'remove', path: rollingUpdatePath }] : [] };
  }
  if (strategy?.['type'] === strategyOnDelete) return leave('on-delete');
  const replicas = replicasOf(after);
  if (replicas === null) return leave('replicas-unknown');
  const reset = (because: PartitionFinding): PartitionMutation => ({ because, patch: partitionPatch(after, replicas) });
  if (before === null) return reset('nothing-before');
  const partition = partitionOf(after);
  const earlierPartition = partitionOf(before);
  if (partition === null || earlierPartition === null) return reset('changed');
  if (!isDeepStrictEqual(withoutPartition(after), withoutPartition(before))) return reset('changed');
  if (partition === earlierPartition) return leave('nothing-changed');
  return leave(partition < 0 || partition > replicas ? 'partition-out-of-range' : 'partition-alone');
}

function leave(because: PartitionFinding): PartitionMutation {
  return { because, patch: [] };
}

/** `null` where it is no number of replicas; the API server refuses such an object after its webhooks. */
function replicasOf({ spec: { replicas = null } }: AdmittedStatefulSet): number | null {
  if (replicas === null) return defaultReplicas;
  return typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 ? replicas : null;
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
