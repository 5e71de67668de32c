import { ApiError, isInternalError, isInvalid } from '../../kube/api-error.ts';
import { strategyLabel, strategyOnDelete } from '../../moco/names.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import { admissionNotInForce } from '../observe/admission-memory.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-client.ts';

const label = { [strategyLabel]: strategyOnDelete };
const setOnDelete: StatefulSetPatch = {
  labels: label,
  spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
};
/** The strategy that the next writer of the StatefulSet may request. */
const requestRollingUpdate: StatefulSetPatch = {
  labels: label,
  spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
};
/** Only sent in dry runs, so it is never stored. */
const probe = { 'moco-rollout.io/admission-probe': 'true' };

/**
 * Sets the StatefulSet to OnDelete and adds the label that keeps it there. Two dry runs come first: the same patch,
 * and a patch that requests RollingUpdate, as MOCO's next write does. Nothing is written unless both results have
 * OnDelete and the label.
 */
export async function adopt(
  statefulSet: StatefulSetRecord,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<StatefulSetRecord | null> {
  for (const [patch, what] of [
    [setOnDelete, 'a dry run that sets OnDelete'],
    [requestRollingUpdate, 'a dry run that requests RollingUpdate'],
  ] as const) {
    const result = await dryRun(() => api.patchStatefulSet(statefulSet, patch, signal, true), what);
    if (!isAdopted(result)) throw notInForce(`${what} left it ${describe(result)}`);
  }
  const after = await api.patchStatefulSet(statefulSet, setOnDelete, signal);
  if (!isAdopted(after)) throw notInForce(`the StatefulSet was set to OnDelete, but is ${describe(after)}`);
  return after;
}

/**
 * Checks that admission resets MOCO's next write to partition = replicas, before the partition is lowered to the given
 * value. A dry run changes the partition and an annotation: MOCO's webhook, or that of the bundled partition driver,
 * must reset the partition. Without such a webhook the lowered partition would remain. Rejects if the partition is not
 * reset.
 */
export async function provePartitionHeld(
  statefulSet: StatefulSetRecord,
  partition: number,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<void> {
  const what = `a dry run that sets partition ${partition} and an annotation`;
  const patch = { annotations: probe, spec: { updateStrategy: { rollingUpdate: { partition } } } };
  const result = await dryRun(() => api.patchStatefulSet(statefulSet, patch, signal, true), what);
  if (result?.strategy === 'RollingUpdate' && result.partition === statefulSet.replicas) return;
  throw notInForce(`${what} left it ${describe(result)} instead of ${statefulSet.replicas}`);
}

const isAdopted = (result: StatefulSetRecord | null): boolean => result?.strategy === 'OnDelete' && result.labelled;

function describe(result: StatefulSetRecord | null): string {
  if (result === null) return 'without the labels of MOCO';
  if (result.strategy === 'RollingUpdate') return `at RollingUpdate with partition ${result.partition ?? 'none'}`;
  return result.labelled ? 'at OnDelete' : `at OnDelete without the label ${strategyLabel}`;
}

const notInForce = (message: string): ApiError => new ApiError({ status: 422, reason: admissionNotInForce, message });

/**
 * Whether the error shows that admission has no effect. An object that another webhook made invalid and a webhook that
 * panics count. Missing permissions do not.
 */
async function dryRun<T>(write: () => Promise<T>, what: string): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || !(isInvalid(error) || isInternalError(error))) throw error;
    throw notInForce(`${what} was refused: ${error.message}`);
  }
}
