import type { IntendedObject, Intent } from '../../api/rollout-status.ts';
import type { Step } from '../../core/decision.ts';
import type { EffectKind } from '../../core/effects.ts';
import { type DisruptiveStep, isDisruptive, ruleOf } from '../../core/step.ts';
import { isConflict, isNotFound } from '../../kube/api-error.ts';
import { type Json, object, text } from '../../moco/json.ts';
import { annotationOn, demoteAnnotation, demotedForAnnotation, invalidatedIntentAnnotation } from '../../moco/names.ts';
import { omitUndefined } from '../observe/omit-undefined.ts';
import type { ClusterApi } from './cluster-client.ts';

/** `statefulSet` is the StatefulSet that was confirmed: a setPartition is written to it. */
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
export function sameStep(a: Step, b: Step): boolean {
  if (a.kind !== b.kind) return false;
  if (!isDisruptive(a) || !isDisruptive(b)) return true;
  const uids = ({ targets }: DisruptiveStep): string => targets.map(({ uid }) => uid).join();
  return ruleOf(a) === ruleOf(b) && uids(a) === uids(b) && partitionOf(a) === partitionOf(b);
}

const partitionOf = (step: DisruptiveStep): number | null => (step.kind === 'setPartition' ? step.partition : null);

/** Parses the stored intent. If the CRD dropped the pods, the author gave up the step before it sent anything. */
type KeptIntent = Pick<Intent, 'id' | 'revision' | 'statefulSet'> & Partial<Pick<Intent, 'pods'>>;

/**
 * Invalidates an intent: its author may still send the write, which must then have no effect. The write carries the
 * pod's uid and resourceVersion. So it is refused if the pod is gone, terminating, replaced or changed. An unchanged
 * pod gets a new resourceVersion here. Only then may another step follow. For a setPartition only the StatefulSet is
 * invalidated.
 *
 * Resolves to whether a pod of the intent still carries our demotion for its revision. A demotion that was about to be
 * withdrawn then stays, until a later step withdraws it.
 */
export async function invalidate(
  intent: KeptIntent,
  namespace: string,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<boolean> {
  const { id, pods = [], statefulSet, revision } = intent;
  if (statefulSet) {
    await makeObjectVoid(id, 'StatefulSet', statefulSet, namespace, api, signal);
    return false;
  }
  const left = await Promise.all(pods.map((pod) => makeObjectVoid(id, 'Pod', pod, namespace, api, signal)));
  return left.some((pod) => isDemotedFor(revision, pod));
}

/**
 * Resolves to the object once the write can no longer have an effect, or to `null` if no object with that uid exists.
 */
async function makeObjectVoid(
  intentId: string,
  kind: 'Pod' | 'StatefulSet',
  intended: IntendedObject,
  namespace: string,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<Json | null> {
  const { name, uid, resourceVersion } = intended;
  const read = async (): Promise<Json | null> => {
    const live = await api.read(kind, namespace, name, signal);
    return text(object(live?.['metadata'])['uid']) === uid ? live : null;
  };
  const live = await read();
  const metadata = object(live?.['metadata']);
  if (text(metadata['resourceVersion']) !== resourceVersion || metadata['deletionTimestamp'] !== undefined) return live;
  try {
    await api.annotate(kind, namespace, intended, { [invalidatedIntentAnnotation]: intentId }, signal);
    return live;
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
    // Somebody changed or deleted the object in between. That invalidates the write as well.
    return read();
  }
}

function isDemotedFor(revision: string, pod: Json | null): boolean {
  const annotations = object(object(pod?.['metadata'])['annotations']);
  return annotations[demoteAnnotation] === annotationOn && annotations[demotedForAnnotation] === revision;
}
