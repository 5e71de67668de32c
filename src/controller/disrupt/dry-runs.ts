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

// The dry runs before a step. They show whether admission works as the step requires.

/**
 * Makes the dry runs that a step needs before it is confirmed. If they show something new, the pass ends, and the
 * result says how. Resolves to `null` if the step may continue.
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

/** Checks whether admission would reset the partition to the number of replicas at MOCO's next write. */
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
 * Sends the writes for every stale member as dry runs, once for each revision, before the first member is changed.
 * Otherwise an admission policy that refuses some of them could leave the cluster with only some members updated in
 * place. Rejects with `ApiError` if there is no response.
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

/**
 * `refusal` is the API server's message if it refuses the write. `isStale` means that the pod has changed since it was
 * read.
 */
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
    // The API server's cached StatefulSet may not have the new template yet. A refusal for that reason is not
    // remembered, because it would count until the next revision.
    if (error.message.includes(podPolicy)) throw error;
    // Kubernetes before 1.33 does not serve pods/resize.
    const isUnknown = isNotFound(error) && change.resources.length > 0;
    if (isInvalid(error) || isForbidden(error) || isUnknown) return { isStale: false, refusal: withoutRequest(error) };
    if (isConflict(error) || isNotFound(error)) return { isStale: true };
    throw error;
  }
}
