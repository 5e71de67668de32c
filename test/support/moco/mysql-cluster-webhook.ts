import { clusterFinalizer } from './names.ts';
import type { MySQLCluster } from './objects.ts';

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
