import type { StatefulSet } from '../../hack/moco/objects.ts';
import { mutateStatefulSet as mutateByMoco } from '../../hack/moco/stateful-set-webhook.ts';
import { annotationOn, preventDeleteAnnotation } from '../../src/moco/names.ts';
import { mutatePartition } from '../../src/webhook/partition-mutation.ts';
import type { AdmittedStatefulSet } from '../../src/webhook/stateful-set.ts';
import { mutateStatefulSet as mutateByUs, type StatefulSetObject } from '../../src/webhook/statefulset-mutation.ts';
import { jsonPatch } from './patches.ts';
import { type Json, record, type StoredObject } from './stored-object.ts';

/** What admission makes of a write, or why it refuses it. */
export type Admitted =
  | { readonly outcome: 'admitted'; readonly object: StoredObject }
  | { readonly outcome: 'refused'; readonly code: number; readonly reason: string; readonly message: string };

/** Whose webhook holds the partition: MOCO's, which has a partition controller, or the program's own. */
export type PartitionWebhook = 'moco' | 'own';

/** The webhooks in the order of their configurations' names, MOCO's first, then validation. */
export function admitStatefulSet(
  after: StoredObject,
  before: StoredObject | null,
  partitionWebhook: PartitionWebhook,
): Admitted {
  const held = partitionWebhook === 'moco' ? heldByMoco(after, before) : heldByUs(after, before);
  if (held.outcome === 'refused') return held;
  // The program's own for OnDelete: of those that are made none carries its label.
  const object = before === null ? held.object : keptOnDelete(held.object);
  const { type, rollingUpdate } = strategyOf(object);
  if (type === 'OnDelete' && rollingUpdate !== undefined && rollingUpdate !== null) {
    const message = `StatefulSet.apps "${after.metadata.name}" is invalid: spec.updateStrategy.rollingUpdate: Invalid value: only allowed for updateStrategy 'RollingUpdate'`;
    return { outcome: 'refused', code: 422, reason: 'Invalid', message };
  }
  return { outcome: 'admitted', object: defaulted(object) };
}

function heldByMoco(after: StoredObject, before: StoredObject | null): Admitted {
  const mutation = mutateByMoco(after as unknown as StatefulSet, before as unknown as StatefulSet | null);
  switch (mutation.outcome) {
    case 'panic':
      return { outcome: 'refused', code: 500, reason: 'InternalError', message: mutation.message };
    case 'unchanged':
      return { outcome: 'admitted', object: after };
    case 'rollingUpdate':
      return { outcome: 'admitted', object: withRollingUpdate(after, mutation.rollingUpdate) };
  }
}

function heldByUs(after: StoredObject, before: StoredObject | null): Admitted {
  const { patch } = mutatePartition(
    after as unknown as AdmittedStatefulSet,
    before as unknown as AdmittedStatefulSet | null,
  );
  return { outcome: 'admitted', object: jsonPatch(after, patch) as StoredObject };
}

function keptOnDelete(object: StoredObject): StoredObject {
  const mutation = mutateByUs(object as unknown as StatefulSetObject);
  return mutation.kind === 'unchanged' ? object : (jsonPatch(object, mutation.patch) as StoredObject);
}

function strategyOf(object: StoredObject): Json {
  return record(record(object['spec'])['updateStrategy']);
}

function withRollingUpdate(object: StoredObject, rollingUpdate: { readonly partition: number } | null): StoredObject {
  const { rollingUpdate: _, ...strategy } = strategyOf(object);
  const updateStrategy = rollingUpdate === null ? strategy : { ...strategy, rollingUpdate };
  return { ...object, spec: { ...record(object['spec']), updateStrategy } };
}

/** A RollingUpdate without a partition gets 0. */
function defaulted(object: StoredObject): StoredObject {
  const { type, rollingUpdate } = strategyOf(object);
  if (type !== 'RollingUpdate' || record(rollingUpdate)['partition'] !== undefined) return object;
  return withRollingUpdate(object, { partition: 0 });
}

/** MOCO's ValidatingAdmissionPolicy: evictions pass it, deletions don't. `null` where nothing is against it. */
export function deletionRefused(pod: StoredObject): string | null {
  return pod.metadata.annotations?.[preventDeleteAnnotation] === annotationOn
    ? `pods "${pod.metadata.name}" is forbidden: ValidatingAdmissionPolicy 'moco-delete-validator' denied request: ${pod.metadata.name} is protected from deletion`
    : null;
}
