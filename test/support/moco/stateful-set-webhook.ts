import { annotationOn, forceRollingUpdateAnnotation } from '../../../src/moco/names.ts';
import type { StatefulSet } from './objects.ts';
import { same } from './same.ts';

/** The result of MOCO's webhook `statefulset.kb.io`. */
export type Mutation =
  | { readonly outcome: 'unchanged' }
  /** `spec.updateStrategy.rollingUpdate` becomes this; `null` removes it. */
  | { readonly outcome: 'rollingUpdate'; readonly rollingUpdate: { readonly partition: number } | null }
  /** It dereferences a partition that isn't there; controller-runtime turns that into a denial with code 500. */
  | { readonly outcome: 'panic'; readonly message: string };

const unchanged: Mutation = { outcome: 'unchanged' };
const panic: Mutation = {
  outcome: 'panic',
  message: 'panic: runtime error: invalid memory address or nil pointer dereference [recovered]',
};

/**
 * MOCO's mutation of StatefulSets on CREATE and UPDATE. `before` is `null` on CREATE. It ignores `updateStrategy.type`.
 */
export function mutateStatefulSet(after: StatefulSet, before: StatefulSet | null): Mutation {
  const owners = after.metadata.ownerReferences ?? [];
  if (owners.length !== 1 || owners[0]?.kind !== 'MySQLCluster') {
    return unchanged;
  }
  const rollingUpdate = after.spec.updateStrategy?.rollingUpdate ?? null;
  if (after.metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn) {
    return rollingUpdate === null ? unchanged : { outcome: 'rollingUpdate', rollingUpdate: null };
  }
  const replicas = after.spec.replicas;
  if (replicas === undefined) {
    return panic;
  }
  const reset: Mutation = { outcome: 'rollingUpdate', rollingUpdate: { partition: replicas } };
  if (rollingUpdate?.partition === undefined) {
    return reset;
  }
  if (before === null) {
    return unchanged;
  }
  const oldPartition = before.spec.updateStrategy?.rollingUpdate?.partition;
  if (oldPartition === undefined) {
    return panic;
  }
  return rollingUpdate.partition !== oldPartition && changesOnlyTheStrategy(after, before) ? unchanged : reset;
}

function changesOnlyTheStrategy(after: StatefulSet, before: StatefulSet): boolean {
  return same({ ...after.spec, updateStrategy: null }, { ...before.spec, updateStrategy: null });
}
