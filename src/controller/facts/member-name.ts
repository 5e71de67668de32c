import type { MemberName } from '../../core/rules/rule.ts';
import type { ClusterObjects } from '../../moco/records.ts';

/** Returns a function that names the members of a cluster in messages. */
export function memberName({
  objects,
}: {
  readonly objects: Pick<ClusterObjects, 'statefulSet' | 'cluster'>;
}): MemberName {
  const stem = objects.statefulSet?.name ?? `moco-${objects.cluster.name}`;
  return (ordinal) => `${stem}-${ordinal}`;
}
