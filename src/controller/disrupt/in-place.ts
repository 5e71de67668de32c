import type { Step } from '../../core/decision.ts';
import type { InPlaceChange } from '../../core/in-place.ts';
import { ApiError, isConflict, isForbidden, isInvalid, isNotFound } from '../../kube/api-error.ts';
import { restartNote } from '../../moco/in-place/restart.ts';
import { restartInPlaceAnnotation, revisionHashLabel } from '../../moco/names.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { Observation } from '../observe/observe.ts';
import type { Result } from '../observe/result.ts';
import type { ClusterApi } from './cluster-client.ts';

type UpdateInPlace = Extract<Step, { kind: 'updateInPlace' }>;

/** The whole patch of a pod: the change, the revision, and which containers restart. */
export function patchOf(
  { targets: [{ uid }], revision, change }: UpdateInPlace,
  pods: readonly PodRecord[],
): InPlaceChange {
  const pod = pods.find((one) => one.uid === uid);
  const note = pod && restartNote(change, revision, pod);
  return {
    ...change,
    labels: { ...change.labels, [revisionHashLabel]: revision },
    annotations: { ...change.annotations, ...(note !== undefined && { [restartInPlaceAnnotation]: note }) },
  };
}

/**
 * Sends the update of every stale member as a dry run, once for each revision, before the first member is changed. So a
 * cluster is not left with some members updated in place and others not, because an admission policy refuses the rest.
 * Resolves to the answers, or to `null` if all of them are known. Rejects with `ApiError` if there is no answer.
 */
export async function tryInPlace(
  { objects, snapshot, memory }: Observation,
  step: UpdateInPlace,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<Extract<Result, { kind: 'inPlace' }> | null> {
  const { revision } = step;
  const answers: { readonly uid: string; readonly refusal: string | null }[] = [];
  for (const { uid, ordinal, name, resourceVersion, inPlace } of snapshot.members) {
    if (inPlace?.kind !== 'possible' || memory.inPlace.accepted.get(uid) === revision) continue;
    const own = { ...step, targets: [{ uid, ordinal, name, resourceVersion }], change: inPlace.change } as const;
    const answer = await dryRun(own, objects.cluster.namespace, objects.pods, api, signal);
    if (!answer.isStale) answers.push({ uid, refusal: answer.refusal });
  }
  return answers.length === 0 ? null : { kind: 'inPlace', revision, answers };
}

/** The API server's words if it refuses. Stale: the pod has changed since it was read. */
type Answer = { readonly isStale: false; readonly refusal: string | null } | { readonly isStale: true };

async function dryRun(
  step: UpdateInPlace,
  namespace: string,
  pods: readonly PodRecord[],
  api: ClusterApi,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    await api.updateInPlace(namespace, step.targets[0], patchOf(step, pods), signal, true);
    return { isStale: false, refusal: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isInvalid(error) || isForbidden(error)) return { isStale: false, refusal: error.message };
    if (isConflict(error) || isNotFound(error)) return { isStale: true };
    throw error;
  }
}
