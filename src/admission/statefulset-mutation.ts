import { isDeepStrictEqual } from 'node:util';
import { admissionProbeAnnotation, probeSeenByWebhook, probeSent, strategyOnDelete } from '../moco/names.ts';
import { isForced, isLabelled, keepsRevisions, replicasOf } from './stateful-set.ts';

export interface JsonPatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/** What the object alone says about itself. The word goes into the API server's audit log. */
export type Mutation =
  | {
      readonly kind: 'patched';
      readonly because: 'labelled' | 'revisions-kept';
      readonly patch: readonly JsonPatchOperation[];
    }
  | {
      readonly kind: 'unchanged';
      readonly because: 'already-on-delete' | 'already-kept' | 'not-labelled' | 'forced';
    };

/** As much of a StatefulSet as the decision needs; whatever isn't of its type counts as absent. */
export interface StatefulSetObject {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>> | null | undefined;
    readonly annotations?: Readonly<Record<string, string>> | null | undefined;
  };
  readonly spec: { readonly replicas?: unknown; readonly updateStrategy?: unknown };
}

/** `{type: OnDelete}`: with `rollingUpdate` beside it the API server would refuse the object. */
const onDelete = { type: strategyOnDelete } as const;

/**
 * Keeps the strategy of a StatefulSet that carries our label, whatever MOCO or its webhook just made of it, unless MOCO's
 * native rolling update is forced: OnDelete, or RollingUpdate with partition = replicas where the second label asks for new
 * pods at the current revision. Both replace nobody. This webhook runs after MOCO's, so it sets either at once, where the
 * admission policy needs two rounds for the second.
 *
 * The labels alone decide, so replicas of this program can't disagree, whatever their feature gates say. A patch of an
 * object that is right already would be empty, and then none is sent: MOCO's repeated apply must not become a change. A
 * dry run of the controller that asks who keeps the strategy is told.
 */
export function mutateStatefulSet({ metadata, spec }: StatefulSetObject): Mutation {
  if (!isLabelled(metadata)) return { kind: 'unchanged', because: 'not-labelled' };
  if (isForced(metadata)) return { kind: 'unchanged', because: 'forced' };
  const pinned = keepsRevisions(metadata) ? pinnedAt(replicasOf(spec)) : null;
  const strategy = pinned ?? onDelete;
  const patch: JsonPatchOperation[] = isDeepStrictEqual(spec.updateStrategy, strategy)
    ? []
    : [{ op: 'add', path: '/spec/updateStrategy', value: strategy }];
  if (metadata.annotations?.[admissionProbeAnnotation] === probeSent) patch.push(probeSeen);
  if (patch.length > 0) return { kind: 'patched', because: pinned === null ? 'labelled' : 'revisions-kept', patch };
  return { kind: 'unchanged', because: pinned === null ? 'already-on-delete' : 'already-kept' };
}

/** Never without its partition: the API server would make that 0. */
const pinnedAt = (replicas: number | null): object | null =>
  replicas === null ? null : { type: 'RollingUpdate', rollingUpdate: { partition: replicas } };

const probeSeen: JsonPatchOperation = {
  op: 'add',
  path: `/metadata/annotations/${admissionProbeAnnotation.replaceAll('/', '~1')}`,
  value: probeSeenByWebhook,
};
