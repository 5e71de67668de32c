import type { Target } from '../../core/decision.ts';
import type { InPlaceChange } from '../../core/in-place-changes.ts';
import type { StepInPlace } from '../../core/update-in-place.ts';
import { ApiError, isConflict, isForbidden, isInvalid, isNotFound, withoutRequest } from '../../kube/api-error.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import { patchOf } from '../../objects/execute.ts';
import type { PassOutcome } from '../pass/end.ts';
import type { Observation } from '../pass/observe.ts';

/**
 * Sends the writes to every stale member as dry runs, once for each revision, before the first member is changed. So a
 * cluster is not left with some members updated in place and others not, because an admission policy refuses the rest.
 * Resolves to the answers, or to `null` if all of them are known. Rejects with `ApiError` if there is no answer.
 */
export async function tryInPlace(
  { objects, snapshot, memory }: Observation,
  { revision }: StepInPlace,
  api: ClusterApi,
): Promise<Extract<PassOutcome, { kind: 'inPlace' }> | null> {
  const answers: { readonly uid: string; readonly refusal: string | null }[] = [];
  for (const { uid, ordinal, name, resourceVersion, inPlace } of snapshot.members) {
    if (inPlace?.kind !== 'possible' || memory.readings.inPlace.accepted.get(uid) === revision) continue;
    const target = { uid, ordinal, name, resourceVersion };
    const answer = await dryRun(target, inPlace.change, revision, objects, api);
    if (!answer.isStale) answers.push({ uid, refusal: answer.refusal });
  }
  return answers.length === 0 ? null : { kind: 'inPlace', revision, answers };
}

/** The API server's words if it refuses. Stale: the pod has changed since it was read. */
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
    // Kubernetes before 1.33 does not know pods/resize.
    const isUnknown = isNotFound(error) && change.resources.length > 0;
    if (isInvalid(error) || isForbidden(error) || isUnknown) return { isStale: false, refusal: withoutRequest(error) };
    if (isConflict(error) || isNotFound(error)) return { isStale: true };
    throw error;
  }
}
