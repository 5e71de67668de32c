import { annotationOn, preventDeleteAnnotation } from '../../../src/moco/names.ts';
import { factsOf, type Snapshot } from './cluster-state.ts';
import { has, membersWhere, protectedMembers } from './decisions.ts';
import type { Pod } from './objects.ts';
import type { Patch } from './write.ts';

/** Sets the annotation on the pods to be protected, and removes it from others. */
export function protectionWrites(snapshot: Snapshot): Patch[] {
  const { primary, lags } = factsOf(snapshot);
  const before = membersWhere(snapshot.cluster.spec.replicas, (ordinal) => isAnnotated(snapshot.members[ordinal]));
  const after = protectedMembers(before, primary, lags);
  return snapshot.members.flatMap((pod, ordinal) => {
    if (has(before, ordinal) === has(after, ordinal)) return [];
    return [annotate(pod, has(after, ordinal) ? annotationOn : null)];
  });
}

function isAnnotated(pod: Pod | undefined): boolean {
  return pod?.metadata.annotations?.[preventDeleteAnnotation] !== undefined;
}

function annotate(pod: Pod, value: string | null): Patch {
  const { name, namespace, uid } = pod.metadata;
  const body = { metadata: { annotations: { [preventDeleteAnnotation]: value } } };
  return { verb: 'patch', kind: 'Pod', namespace, name, uid, body };
}
