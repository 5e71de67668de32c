import { isDeepStrictEqual } from 'node:util';
import type { IntendedObject, Intent } from '../../api/rollout-status.ts';
import { type Json, object, omitUndefined, text } from '../../base/json.ts';
import type { Step, Target } from '../../core/decision.ts';
import type { EffectKind } from '../../core/effects.ts';
import { type DisruptiveStep, isDisruptive, markOfLeavingNode, ruleOf } from '../../core/step.ts';
import { isConflict, isNotFound } from '../../kube/api-error.ts';
import { pods as podKind, type ResourceKind, statefulSets } from '../../kube/resource.ts';
import {
  annotationOn,
  demoteAnnotation,
  demotedForAnnotation,
  invalidatedIntentAnnotation,
  ordinalOf,
} from '../../moco/names.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { LeftOver } from '../status/progress.ts';

// Writes, reads and invalidates intents, which make a step safe even if its author crashes.

/** `statefulSet` is the confirmed StatefulSet: the target of a setPartition. */
export function intentOf(
  step: DisruptiveStep,
  effects: readonly EffectKind[],
  statefulSet: (IntendedObject & { readonly updateRevision: string }) | null,
  id: string,
  holder: string,
  at: string,
): Intent {
  const lowers = step.kind === 'setPartition';
  return omitUndefined<Intent>({
    id,
    holder,
    step: step.kind,
    rule: ruleOf(step),
    revision: statefulSet?.updateRevision ?? '',
    at,
    pods: step.targets.map(identity),
    partition: lowers ? step.partition : undefined,
    statefulSet: lowers && statefulSet !== null ? identity(statefulSet) : undefined,
    effects: [...effects],
  });
}

const identity = ({ name, uid, resourceVersion }: IntendedObject): IntendedObject => ({ name, uid, resourceVersion });

/** Whether two decisions would do the same to the same pods. Their resourceVersions may differ. */
export const sameStep = (a: Step, b: Step): boolean => isDeepStrictEqual(shapeOf(a), shapeOf(b));

function shapeOf(step: Step): readonly unknown[] {
  const uids = (targets: readonly Target[]): readonly string[] => targets.map(({ uid }) => uid);
  if (isDisruptive(step)) return [step.kind, ruleOf(step), uids(step.targets), intendedPartition(step)];
  switch (step.kind) {
    case 'setStrategy':
      return [step.kind, step.newPods];
    case 'promoteRevision':
      return [step.kind, step.for, step.revision, uids(step.before)];
    default:
      return [step.kind];
  }
}

const intendedPartition = (step: DisruptiveStep): number | null =>
  step.kind === 'setPartition' ? step.partition : null;

/**
 * The fields of a stored intent that are used here. If an older CRD dropped the field `pods`, the process that wrote
 * the intent noticed that and sent nothing.
 */
type KeptIntent = Pick<Intent, 'id' | 'revision' | 'statefulSet'> & Partial<Pick<Intent, 'pods' | 'step'>>;

/** The pass gives up after this many attempts if the object changes between each read and its write. */
const mostTries = 5;

/**
 * Invalidates an intent. The process that wrote it may still send the step, or the API server may have completed only
 * half of the step. After this call, neither can have an effect. Each write carries uid and resourceVersion, so it is
 * refused if the object is gone, terminating, replaced or changed. An object that has not changed gets a new
 * resourceVersion here. Only then may another step follow. For a setPartition only the StatefulSet is invalidated.
 *
 * An eviction is two writes (Kubernetes 1.36.3, pkg/registry/core/pod/storage/eviction.go): the condition
 * DisruptionTarget, with the resourceVersion of the intent, and then the deletion, with the resourceVersion that
 * results from the first write. So the pod always gets a new resourceVersion here, whatever its current one is.
 *
 * Resolves to what the intent leaves behind.
 */
export async function invalidate(intent: KeptIntent, namespace: string, api: ClusterApi): Promise<LeftOver> {
  const { id, step, pods = [], statefulSet, revision } = intent;
  const isOneWrite = step !== undefined && step !== 'evict';
  const makeVoid = (kind: ResourceKind, intended: IntendedObject): Promise<Json | null> =>
    makeObjectVoid(id, kind, intended, isOneWrite, namespace, api);
  if (statefulSet) {
    await makeVoid(statefulSets, statefulSet);
    return { staysDemoted: false, spared: [] };
  }
  const left = await Promise.all(pods.map((pod) => makeVoid(podKind, pod)));
  const isEnded = step === 'evict' || step === 'delete' || step === 'restore';
  const spared = left.filter((pod) => pod !== null && object(pod['metadata'])['deletionTimestamp'] === undefined);
  return {
    staysDemoted: left.some((pod) => isDemotedFor(revision, pod)),
    spared: isEnded ? spared.map((pod) => ordinalOf(text(object(pod?.['metadata'])['name']) ?? '')) : [],
  };
}

/**
 * Resolves to the object once the intent's write can no longer have an effect, or to `null` if no object with that uid
 * exists.
 *
 * @param isOneWrite whether the intent's write fails if the object has changed in any way since the intent was written
 */
async function makeObjectVoid(
  intentId: string,
  kind: ResourceKind,
  intended: IntendedObject,
  isOneWrite: boolean,
  namespace: string,
  api: ClusterApi,
): Promise<Json | null> {
  const { name, uid } = intended;
  for (let tries = 1; ; tries += 1) {
    const live = await api.read(kind, { namespace, name });
    const metadata = object(live?.['metadata']);
    if (text(metadata['uid']) !== uid) return null;
    const resourceVersion = text(metadata['resourceVersion']) ?? '';
    const isChanged = resourceVersion !== intended.resourceVersion;
    if ((isOneWrite && isChanged) || metadata['deletionTimestamp'] !== undefined) return live;
    try {
      const annotation = { [invalidatedIntentAnnotation]: intentId };
      await api.annotate(kind, namespace, { name, uid, resourceVersion }, annotation);
      return live;
    } catch (error) {
      // Another client has changed or deleted the object since the read. The next read shows what that means for the
      // write.
      if ((!isConflict(error) && !isNotFound(error)) || tries === mostTries) throw error;
    }
  }
}

function isDemotedFor(revision: string, pod: Json | null): boolean {
  const annotations = object(object(pod?.['metadata'])['annotations']);
  const mark = annotations[demotedForAnnotation];
  return annotations[demoteAnnotation] === annotationOn && (mark === revision || mark === markOfLeavingNode);
}
