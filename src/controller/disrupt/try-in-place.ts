import type { Step, Target } from '../../core/decision.ts';
import type { InPlaceChange } from '../../core/in-place-changes.ts';
import { ApiError, isConflict, isForbidden, isInvalid, isNotFound, withoutRequest } from '../../kube/api-error.ts';
import { restartNote } from '../../moco/in-place/restart.ts';
import { restartInPlaceAnnotation, revisionHashLabel } from '../../moco/names.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { Outcome } from '../pass/end.ts';
import type { Observation } from '../pass/observe.ts';
import type { ClusterApi, InPlacePatch } from '../../objects/cluster-client.ts';

type UpdateInPlace = Extract<Step, { kind: 'updateInPlace' }>;
type StepInPlace = Extract<Step, { kind: 'updateInPlace' | 'resizeInPlace' }>;

/** The whole patch of a pod: the change, the revision, and which containers restart. */
export function patchOf(
  { targets: [{ uid }], revision, change }: Pick<UpdateInPlace, 'targets' | 'revision' | 'change'>,
  pods: readonly PodRecord[],
): InPlacePatch {
  const pod = pods.find((one) => one.uid === uid);
  const note = pod && restartNote(change, revision, pod);
  const { resources: _, ...patch } = change;
  return {
    ...patch,
    labels: { ...change.labels, [revisionHashLabel]: revision },
    annotations: { ...change.annotations, ...(note !== undefined && { [restartInPlaceAnnotation]: note }) },
  };
}

/**
 * Sends the writes to every stale member as dry runs, once for each revision, before the first member is changed. So a
 * cluster is not left with some members updated in place and others not, because an admission policy refuses the rest.
 * Resolves to the answers, or to `null` if all of them are known. Rejects with `ApiError` if there is no answer.
 */
export async function tryInPlace(
  { objects, snapshot, memory }: Observation,
  { revision }: StepInPlace,
  api: ClusterApi,
): Promise<Extract<Outcome, { kind: 'inPlace' }> | null> {
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
type Answer = { readonly isStale: false; readonly refusal: string | null } | { readonly isStale: true };

async function dryRun(
  target: Target,
  change: InPlaceChange,
  revision: string,
  { cluster: { namespace }, pods }: ClusterObjects,
  api: ClusterApi,
): Promise<Answer> {
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
