import { ApiError, isInternalError, isInvalid } from '../../kube/api-error.ts';
import { newPodsLabel, strategyLabel } from '../../moco/names.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import { admissionNotInForce } from '../facts/admission.ts';

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
