import {
  type AdmittedStatefulSet,
  fieldsOf,
  isForced,
  isLabelled,
  replicasOf,
  wantsRevisionsKept,
} from '../../src/admission/mutations.ts';

/**
 * The strategy that one round of config/admission-policy sets; `null` where it leaves the object alone. A test with the
 * real API server has the same cases (test/cluster/new-pods-matrix.test.ts).
 */
export function strategyByPolicy(after: AdmittedStatefulSet, before: AdmittedStatefulSet): object | null {
  if (!isLabelled(after.metadata) || isForced(after.metadata)) return null;
  const replicas = replicasOf(after.spec);
  const isSecondRound = fieldsOf(after.spec.updateStrategy)?.['type'] === 'OnDelete' && partitionOf(after) === replicas;
  return wantsRevisionsKept(after.metadata) && (partitionOf(before) !== null || isSecondRound)
    ? { type: 'RollingUpdate', rollingUpdate: { partition: replicas } }
    : { type: 'OnDelete' };
}

function partitionOf({ spec }: AdmittedStatefulSet): unknown {
  return fieldsOf(fieldsOf(spec.updateStrategy)?.['rollingUpdate'])?.['partition'] ?? null;
}
