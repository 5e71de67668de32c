import type { AdmittedStatefulSet } from '../../../src/admission/mutations.ts';
import { mutateStatefulSet as mutateByUs, mutatePartition } from '../../../src/admission/mutations.ts';
import {
  annotationOn,
  mocoStatefulSetWebhook,
  ownPartitionWebhook,
  ownWebhook,
  preventDeleteAnnotation,
} from '../../../src/moco/names.ts';
import { jsonPatch } from '../json-patch.ts';
import type { StatefulSet } from '../moco/objects.ts';
import { mutateStatefulSet as mutateByMoco } from '../moco/webhooks.ts';
import { strategyByPolicy } from '../strategy-policy.ts';
import { type Json, record, type StoredObject } from './stored-object.ts';

/** The result of admission for a write, or the reason of its refusal. */
export type Admitted =
  | { readonly outcome: 'admitted'; readonly object: StoredObject }
  | { readonly outcome: 'refused'; readonly code: number; readonly reason: string; readonly message: string };

/** Whose webhook holds the partition: MOCO's, which has a partition controller, or the program's own. */
export type PartitionWebhook = 'moco' | 'own';

/** Who keeps the strategy of a StatefulSet that carries the program's label. */
export type OnDeleteKeeper =
  /** A MutatingAdmissionPolicy: the API server itself, which is never unavailable. */
  | 'policy'
  /** The program's webhook with `failurePolicy: Ignore`: while it is unavailable, the API server continues without it. */
  | 'webhook'
  /** The same with `failurePolicy: Fail`, as no installation has it. A test shows what it would cost. */
  | 'failingWebhook';

export interface Admission {
  readonly partitionWebhook: PartitionWebhook;
  readonly onDeleteKeeper: OnDeleteKeeper;
  /** Somebody answers the webhooks of moco-controller. */
  readonly isMocoServing: () => boolean;
  /** Somebody answers the webhooks of the program. */
  readonly isProgramServing: () => boolean;
}

/** Everybody is there, and the partition is MOCO's. */
export const everybodyServes: Admission = {
  partitionWebhook: 'moco',
  onDeleteKeeper: 'policy',
  isMocoServing: () => true,
  isProgramServing: () => true,
};

/**
 * The policy, the webhooks in the order of their configurations' names, MOCO's first, the policy again if one of them
 * has changed something, then validation.
 */
export function admitStatefulSet(wanted: StoredObject, before: StoredObject | null, admission: Admission): Admitted {
  const after = before !== null && admission.onDeleteKeeper === 'policy' ? keptByPolicy(wanted, before) : wanted;
  const held = heldByWebhook(after, before, admission);
  if (held.outcome === 'refused') return held;
  // None of the created objects has the program's label.
  const kept = before === null ? held : keptStrategy(held.object, before, admission);
  if (kept.outcome === 'refused') return kept;
  const { object } = kept;
  const { type, rollingUpdate } = strategyOf(object);
  if (type === 'OnDelete' && rollingUpdate !== undefined && rollingUpdate !== null) {
    const message = `StatefulSet.apps "${after.metadata.name}" is invalid: spec.updateStrategy.rollingUpdate: Invalid value: only allowed for updateStrategy 'RollingUpdate'`;
    return { outcome: 'refused', code: 422, reason: 'Invalid', message };
  }
  return { outcome: 'admitted', object: defaulted(object) };
}

/** MOCO's webhook, and the one in its place, have `failurePolicy: Fail`. */
function unavailable(webhook: string): Admitted {
  const message = `Internal error occurred: failed calling webhook "${webhook}": connect: connection refused`;
  return { outcome: 'refused', code: 500, reason: 'InternalError', message };
}

function heldByWebhook(after: StoredObject, before: StoredObject | null, admission: Admission): Admitted {
  if (admission.partitionWebhook === 'moco')
    return admission.isMocoServing() ? heldByMoco(after, before) : unavailable(mocoStatefulSetWebhook);
  return admission.isProgramServing() ? heldByUs(after, before) : unavailable(ownPartitionWebhook);
}

/** What MOCO's webhook makes of a write. */
export function heldByMoco(after: StoredObject, before: StoredObject | null): Admitted {
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

/** What the webhook of the own partition driver makes of it. */
export function heldByUs(after: StoredObject, before: StoredObject | null): Admitted {
  const { patch } = mutatePartition(
    after as unknown as AdmittedStatefulSet,
    before as unknown as AdmittedStatefulSet | null,
  );
  return { outcome: 'admitted', object: jsonPatch(after, patch) as StoredObject };
}

function keptStrategy(object: StoredObject, before: StoredObject, admission: Admission): Admitted {
  const { onDeleteKeeper, isProgramServing } = admission;
  if (onDeleteKeeper === 'policy') return { outcome: 'admitted', object: keptByPolicy(object, before) };
  const mutation = mutateByUs(object as unknown as AdmittedStatefulSet);
  if (mutation.because === 'not-labelled') return { outcome: 'admitted', object };
  if (!isProgramServing()) {
    return onDeleteKeeper === 'webhook' ? { outcome: 'admitted', object } : unavailable(ownWebhook);
  }
  return { outcome: 'admitted', object: jsonPatch(object, mutation.patch) as StoredObject };
}

/** One of the rounds of the policy. */
export function keptByPolicy(after: StoredObject, before: StoredObject): StoredObject {
  const [one, other] = [after, before] as unknown as readonly [AdmittedStatefulSet, AdmittedStatefulSet];
  const updateStrategy = strategyByPolicy(one, other);
  return updateStrategy === null ? after : { ...after, spec: { ...record(after['spec']), updateStrategy } };
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

/** MOCO's ValidatingAdmissionPolicy: evictions pass, deletions don't. `null` if the request is allowed. */
export function deletionRefused(pod: StoredObject): string | null {
  return pod.metadata.annotations?.[preventDeleteAnnotation] === annotationOn
    ? `pods "${pod.metadata.name}" is forbidden: ValidatingAdmissionPolicy 'moco-delete-validator' denied request: ${pod.metadata.name} is protected from deletion`
    : null;
}
