import type { Target } from '../../core/decision.ts';
import type { StepInPlace } from '../../core/in-place.ts';
import type { InPlaceChange } from '../../core/in-place-changes.ts';
import type { DisruptiveStep } from '../../core/step.ts';
import { ApiError, isConflict, isForbidden, isInvalid, isNotFound, withoutRequest } from '../../kube/api-error.ts';
import { podPolicy } from '../../moco/names.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import { patchOf } from '../../objects/execute.ts';
import { admissionNotInForce, provePartitionHeld } from '../../objects/strategy.ts';
import { again, type End } from '../pass/end.ts';
import type { Observation } from '../pass/observe.ts';
import type { InPlaceDryRun } from '../questions/in-place-facts.ts';

// The dry runs before a step, which show whether admission works as the step needs it.

/**
 * The dry runs that a step needs before it is confirmed. Resolves to the end of the pass if they have shown something
 * new, and to `null` if the step may continue.
 */
export async function tryFirst(observed: Observation, step: DisruptiveStep, api: ClusterApi): Promise<End | null> {
  switch (step.kind) {
    case 'setPartition':
      return tryPartition(step.partition, observed, api);
    case 'updateInPlace':
    case 'resizeInPlace':
      return tryInPlace(observed, step, api);
    default:
      return null;
  }
}

/** Whether admission would reset MOCO's next write to partition = replicas. */
async function tryPartition(
  partition: number,
  { objects: { statefulSet } }: Observation,
  api: ClusterApi,
): Promise<End | null> {
  if (statefulSet === null) return null;
  try {
    await provePartitionHeld(statefulSet, partition, api);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== admissionNotInForce) throw error;
    return { kind: 'admission', mode: 'Partition', error, report: 'cached' };
  }
}

/**
 * Sends the writes to every stale member as dry runs, once for each revision, before the first member is changed. So a
 * cluster is not left with some members updated in place and others not, because an admission policy refuses the rest.
 * Rejects with `ApiError` if there is no answer.
 */
async function tryInPlace(
  { objects, snapshot, memory }: Observation,
  { revision }: StepInPlace,
  api: ClusterApi,
): Promise<End | null> {
  const answers: InPlaceDryRun[] = [];
  for (const { uid, ordinal, name, resourceVersion, inPlace } of snapshot.members) {
    if (inPlace?.kind !== 'possible' || memory.answers.inPlace.accepted.get(uid) === revision) continue;
    const target = { uid, ordinal, name, resourceVersion };
    const answer = await dryRun(target, inPlace.change, revision, objects, api);
    if (!answer.isStale) answers.push({ uid, refusal: answer.refusal });
  }
  return answers.length === 0 ? null : { kind: 'inPlace', revision, answers, ...again };
}

/** The API server's words if it refuses. `isStale`: the pod has changed since it was read. */
type DryRunAnswer = { readonly isStale: false; readonly refusal: string | null } | { readonly isStale: true };

async function dryRun(
  target: Target,
  change: InPlaceChange,
  revision: string,
  { cluster: { namespace }, pods }: ClusterObjects,
  api: ClusterApi,
): Promise<DryRunAnswer> {
  try {
    if (change.resources.length > 0) await api.resizePod(namespace, target, change.resources, true);
    const patch = patchOf({ targets: [target], revision, change }, pods);
    await api.updateInPlace(namespace, target, patch, true);
    return { isStale: false, refusal: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The API server's copy of the StatefulSet may not have the new template yet. A refusal for that reason would be
    // remembered until the next revision.
    if (error.message.includes(podPolicy)) throw error;
    // Kubernetes before 1.33 does not know pods/resize.
    const isUnknown = isNotFound(error) && change.resources.length > 0;
    if (isInvalid(error) || isForbidden(error) || isUnknown) return { isStale: false, refusal: withoutRequest(error) };
    if (isConflict(error) || isNotFound(error)) return { isStale: true };
    throw error;
  }
}
