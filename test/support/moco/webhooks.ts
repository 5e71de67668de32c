import { annotationOn, forceRollingUpdateAnnotation } from '../../../src/moco/names.ts';
import { clusterFinalizer } from './names.ts';
import type { MySQLCluster, StatefulSet } from './objects.ts';
import { same } from './same.ts';

/** One operation of RFC 6902. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

/** MOCO's defaults for a new MySQLCluster: its finalizer and the base of its members' server ids. */
export function defaultCluster(cluster: MySQLCluster): JsonPatchOperation[] {
  const finalizers = cluster.metadata.finalizers ?? [];
  return [
    ...(finalizers.includes(clusterFinalizer)
      ? []
      : [{ op: 'add' as const, path: '/metadata/finalizers', value: [...finalizers, clusterFinalizer] }]),
    ...((cluster.spec.serverIDBase ?? 0) > 0
      ? []
      : [{ op: 'add' as const, path: '/spec/serverIDBase', value: serverIdBase(cluster.metadata.name) }]),
  ];
}

/** The real one is random; here it is derived from the name, so that the same story gives the same objects. */
function serverIdBase(name: string): number {
  let base = 7;
  for (const character of name) {
    base = (base * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
  }
  return base + 1;
}

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
