import { annotationOn, forceRollingUpdateAnnotation, strategyLabel, strategyOnDelete } from '../moco/names.ts';

export interface JsonPatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/** What the object alone says about itself. The word goes into the API server's audit log. */
export type Mutation =
  | { readonly kind: 'patched'; readonly because: 'labelled'; readonly patch: readonly JsonPatchOperation[] }
  | { readonly kind: 'unchanged'; readonly because: 'already-on-delete' | 'not-labelled' | 'forced' };

/** As much of a StatefulSet as the decision needs; whatever isn't of its type counts as absent. */
export interface StatefulSetObject {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec: { readonly updateStrategy?: unknown };
}

/** `{type: OnDelete}`: with `rollingUpdate` beside it the API server would refuse the object. */
const onDelete = { type: strategyOnDelete } as const;

/**
 * Keeps a StatefulSet that carries our label at OnDelete, whatever MOCO or its webhook just made of its strategy,
 * unless MOCO's native rolling update is forced. The label alone decides, so replicas of this program can't disagree
 * about it, whatever their feature gates say. A patch of an object that is right already would be empty, and then
 * none is sent: MOCO's repeated apply must not become a change.
 */
export function mutateStatefulSet({ metadata, spec }: StatefulSetObject): Mutation {
  if (metadata.labels?.[strategyLabel] !== strategyOnDelete) return { kind: 'unchanged', because: 'not-labelled' };
  if (metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn) {
    return { kind: 'unchanged', because: 'forced' };
  }
  if (isOnDelete(spec.updateStrategy)) return { kind: 'unchanged', because: 'already-on-delete' };
  const patch = [{ op: 'add', path: '/spec/updateStrategy', value: onDelete }] as const;
  return { kind: 'patched', because: 'labelled', patch };
}

function isOnDelete(strategy: unknown): boolean {
  if (typeof strategy !== 'object' || strategy === null) return false;
  const fields = Object.entries(strategy);
  return fields.length === 1 && fields.every(([name, value]) => name === 'type' && value === strategyOnDelete);
}
