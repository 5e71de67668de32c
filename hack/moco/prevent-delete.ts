import { annotationOn, preventDeleteAnnotation } from '../../src/moco/names.ts';
import { type Gathered, primaryIndex, replicaOrdinals } from './cluster-state.ts';
import type { Pod } from './objects.ts';
import type { Patch } from './write.ts';

/** A replica lags by more than `spec.maxDelaySecondsForPodDeletion` (0 turns this off): no switchover either. */
export function isProtected(gathered: Gathered): boolean {
  const limit = gathered.cluster.spec.maxDelaySecondsForPodDeletion ?? 0;
  return limit > 0 && replicaOrdinals(gathered).some((ordinal) => (gathered.faults.lagSeconds[ordinal] ?? 0) > limit);
}

/** The annotation goes to the primary while it is to be protected, and away from everybody when it is not. */
export function protectionWrites(gathered: Gathered): Patch[] {
  const primary = gathered.members[primaryIndex(gathered.cluster)];
  if (isProtected(gathered)) {
    return primary === undefined || isAnnotated(primary) ? [] : [annotate(primary, annotationOn)];
  }
  return gathered.members.filter(isAnnotated).map((pod) => annotate(pod, null));
}

function isAnnotated(pod: Pod): boolean {
  return pod.metadata.annotations?.[preventDeleteAnnotation] !== undefined;
}

function annotate(pod: Pod, value: string | null): Patch {
  const { name, namespace, uid } = pod.metadata;
  const body = { metadata: { annotations: { [preventDeleteAnnotation]: value } } };
  return { verb: 'patch', kind: 'Pod', namespace, name, uid, body };
}
