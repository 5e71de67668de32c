import { ApiError, isConflict, isInternalError, isInvalid } from '../../kube/api-error.ts';
import { newPodsLabel, strategyLabel } from '../../moco/names.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import { admissionNotInForce } from '../facts/admission.ts';
import type { ClusterApi, PatchedStatefulSet, StatefulSetPatch } from './cluster-client.ts';

/** What a write came to, for a finding. */
export function describe(result: StatefulSetRecord | null): string {
  if (result === null) return 'without the labels of MOCO';
  const { strategy, partition, labelled, newPods } = result;
  if (strategy === 'RollingUpdate') return `at RollingUpdate with partition ${partition ?? 'none'}`;
  if (!labelled) return `at OnDelete without the label ${strategyLabel}`;
  return newPods === 'CurrentRevision' ? `at OnDelete with the label ${newPodsLabel}` : 'at OnDelete';
}

export const notInForce = (message: string): ApiError =>
  new ApiError({ status: 422, reason: admissionNotInForce, message });

/**
 * Whether the error shows that admission has no effect. An object that another webhook made invalid and a webhook that
 * panics count. Missing permissions do not.
 */
export async function dryRun<T>(write: () => Promise<T>, what: string): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || !(isInvalid(error) || isInternalError(error))) throw error;
    throw notInForce(`${what} was refused: ${error.message}`);
  }
}

const mostTries = 4;

/**
 * Patches the StatefulSet with its uid as the only precondition, and at once again after a 409. While a pod is
 * terminating or comes back, the status of its StatefulSet changes all the time, so that a resourceVersion would be out
 * of date just when the write matters. Only for what has the same meaning whatever else has changed. Rejects with a 409
 * if a StatefulSet with another uid has the name.
 */
export async function whicheverVersion(
  { resourceVersion: _, ...statefulSet }: StatefulSetRecord,
  patch: StatefulSetPatch,
  api: ClusterApi,
  dryRun: boolean,
): Promise<PatchedStatefulSet | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await api.patchStatefulSet(statefulSet, patch, dryRun);
    } catch (error) {
      if (isAnother(error)) throw asConflict(error);
      if (!isConflict(error) || tries === mostTries) throw error;
    }
  }
}

/** Without a resourceVersion the API server takes another uid for a change of a field that can't be changed. */
const isAnother = (error: unknown): error is ApiError =>
  error instanceof ApiError && isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid');

const asConflict = (cause: ApiError): ApiError =>
  new ApiError({ status: 409, reason: 'Conflict', message: cause.message, cause });
