import { isDeepStrictEqual } from 'node:util';
import { admissionProbeAnnotation, probeSeenByWebhook, probeSent, strategyOnDelete } from '../moco/names.ts';
import {
  type AdmittedStatefulSet,
  isForced,
  isLabelled,
  keepsRevisions,
  type Mutation,
  type PatchOperation,
  replicasOf,
} from './stateful-set.ts';

export type StrategyFinding =
  | 'labelled'
  | 'revisions-kept'
  | 'already-on-delete'
  | 'already-kept'
  | 'not-labelled'
  | 'forced';

/** `{type: OnDelete}`: with `rollingUpdate` beside it the API server would refuse the object. */
const onDelete = { type: strategyOnDelete } as const;

/**
 * Keeps the strategy of a StatefulSet that carries our label, whatever MOCO or its webhook just made of it, unless
 * MOCO's native rolling update is forced: OnDelete, or RollingUpdate with partition = replicas where the second label
 * asks for new pods at the current revision. Both replace nobody. This webhook runs after MOCO's, so it sets either at
 * once, where the admission policy needs two rounds for the second.
 *
 * The labels alone decide, so replicas of this program can't disagree, whatever their feature gates say. A patch of an
 * object that is right already would be empty, and then none is sent: MOCO's repeated apply must not become a change. A
 * dry run of the controller that asks who keeps the strategy is told.
 */
export function mutateStatefulSet({ metadata, spec }: AdmittedStatefulSet): Mutation<StrategyFinding> {
  if (!isLabelled(metadata)) return { because: 'not-labelled', patch: [] };
  if (isForced(metadata)) return { because: 'forced', patch: [] };
  const pinned = keepsRevisions(metadata) ? pinnedAt(replicasOf(spec)) : null;
  const strategy = pinned ?? onDelete;
  const patch: PatchOperation[] = isDeepStrictEqual(spec.updateStrategy, strategy)
    ? []
    : [{ op: 'add', path: '/spec/updateStrategy', value: strategy }];
  if (metadata.annotations?.[admissionProbeAnnotation] === probeSent) patch.push(probeSeen);
  if (patch.length > 0) return { because: pinned === null ? 'labelled' : 'revisions-kept', patch };
  return { because: pinned === null ? 'already-on-delete' : 'already-kept', patch };
}

/** Never without its partition: the API server would make that 0. */
const pinnedAt = (replicas: number | null): object | null =>
  replicas === null ? null : { type: 'RollingUpdate', rollingUpdate: { partition: replicas } };

const probeSeen: PatchOperation = {
  op: 'add',
  path: `/metadata/annotations/${admissionProbeAnnotation.replaceAll('/', '~1')}`,
  value: probeSeenByWebhook,
};
