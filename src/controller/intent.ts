import { disruptive, type Step, type Target } from '../core/decision.ts';
import { isConflict, isNotFound } from '../kube/api-error.ts';
import { type Json, object, text } from '../moco/json.ts';
import { annotationOn, demoteAnnotation, demotedForAnnotation, voidedIntentAnnotation } from '../moco/names.ts';
import type { ClusterApi } from './cluster-api.ts';
import { defined } from './defined.ts';
import type { IntendedObject, Intent } from './rollout-resource.ts';

/** A step that is confirmed and written down before it is done. */
export type DisruptiveStep = Extract<Step, { readonly targets: readonly Target[] }>;

/** A mark without its `demote` asks MOCO for nothing: taking it away needs no more than the preconditions. */
export function isDisruptive(step: Step): step is DisruptiveStep {
  return disruptive[step.kind] && !(step.kind === 'undemote' && !step.demoted);
}

/** The label of a step in events, metrics and the status. */
export function ruleOf(step: DisruptiveStep): string {
  return step.kind === 'undemote' ? step.reason : step.rule;
}

/** `statefulSet` is the one that was confirmed: a setPartition is written to it. */
export function intentOf(
  step: DisruptiveStep,
  statefulSet: (IntendedObject & { readonly updateRevision: string }) | null,
  id: string,
  holder: string,
  at: string,
): Intent {
  const lowers = step.kind === 'setPartition';
  return defined<Intent>({
    id,
    holder,
    step: step.kind,
    rule: ruleOf(step),
    revision: statefulSet?.updateRevision ?? '',
    at,
    pods: step.targets.map(identity),
    partition: lowers ? step.partition : undefined,
    statefulSet: lowers && statefulSet !== null ? identity(statefulSet) : undefined,
  });
}

const identity = ({ name, uid, resourceVersion }: IntendedObject): IntendedObject => ({ name, uid, resourceVersion });

/** Two decisions that would do the same to the same pods; their resourceVersions may differ. */
export function sameStep(a: Step, b: Step): boolean {
  if (a.kind !== b.kind) return false;
  if (!isDisruptive(a) || !isDisruptive(b)) return true;
  const uids = ({ targets }: DisruptiveStep): string => targets.map(({ uid }) => uid).join();
  return ruleOf(a) === ruleOf(b) && uids(a) === uids(b) && partitionOf(a) === partitionOf(b);
}

const partitionOf = (step: DisruptiveStep): number | null => (step.kind === 'setPartition' ? step.partition : null);

/** As it is read: where the CRD did not keep the pods, its author has given it up before anything was sent. */
type KeptIntent = Pick<Intent, 'id' | 'revision' | 'statefulSet'> & Partial<Pick<Intent, 'pods'>>;

/**
 * Makes sure that a write which its author may still be about to send can't do anything any more: it carries the pod's
 * uid and resourceVersion, so an object that is gone, leaving, replaced or changed refuses it, and one that is as it was
 * is given another resourceVersion. Only then may another step follow. A setPartition goes to the StatefulSet alone: it
 * is that which has to change. Resolves to whether a pod that it names was left with a demotion of ours for its revision:
 * one that was about to be taken back then stays, for whoever comes next to take back.
 */
export async function makeVoid(
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

/** Resolves to the object when the write could do nothing any more, `null` where there was none under that uid. */
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
    await api.annotate(kind, namespace, intended, { [voidedIntentAnnotation]: intentId }, signal);
    return live;
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
    // Changed or gone in between, which makes it void as well.
    return read();
  }
}

function isDemotedFor(revision: string, pod: Json | null): boolean {
  const annotations = object(object(pod?.['metadata'])['annotations']);
  return annotations[demoteAnnotation] === annotationOn && annotations[demotedForAnnotation] === revision;
}
