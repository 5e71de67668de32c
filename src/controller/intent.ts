import { disruptive, type Step, type Target } from '../core/decision.ts';
import { isConflict, isNotFound } from '../kube/api-error.ts';
import { object, text } from '../moco/json.ts';
import { voidedIntentAnnotation } from '../moco/names.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { IntendedPod, Intent } from './rollout-resource.ts';

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

export function intentOf(step: DisruptiveStep, revision: string, id: string, holder: string, at: string): Intent {
  return {
    id,
    holder,
    step: step.kind,
    rule: ruleOf(step),
    revision,
    at,
    pods: step.targets.map(({ name, uid, resourceVersion }) => ({ name, uid, resourceVersion })),
  };
}

/** Two decisions that would do the same to the same pods; their resourceVersions may differ. */
export function sameStep(a: Step, b: Step): boolean {
  if (a.kind !== b.kind) return false;
  if (!isDisruptive(a) || !isDisruptive(b)) return true;
  const uids = ({ targets }: DisruptiveStep): string => targets.map(({ uid }) => uid).join();
  return ruleOf(a) === ruleOf(b) && uids(a) === uids(b);
}

/**
 * Makes sure that a write which its author may still be about to send can't do anything any more: it carries the pod's
 * uid and resourceVersion, so a pod that is gone, leaving, replaced or changed refuses it, and one that is as it was is
 * given another resourceVersion. Only then may another step follow.
 */
export async function makeVoid(intent: Intent, namespace: string, api: ClusterApi, signal: AbortSignal): Promise<void> {
  await Promise.all(intent.pods.map((pod) => makePodVoid(intent.id, pod, namespace, api, signal)));
}

async function makePodVoid(
  intentId: string,
  pod: IntendedPod,
  namespace: string,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<void> {
  const live = await api.readPod(namespace, pod.name, signal);
  const metadata = object(live?.['metadata']);
  const changed = text(metadata['uid']) !== pod.uid || text(metadata['resourceVersion']) !== pod.resourceVersion;
  if (changed || metadata['deletionTimestamp'] !== undefined) return;
  try {
    await api.annotatePod(namespace, pod, { [voidedIntentAnnotation]: intentId }, signal);
  } catch (error) {
    // Changed or gone in between, which makes it void as well.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
