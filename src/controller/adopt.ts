import { ApiError, isInternalError, isInvalid } from '../kube/api-error.ts';
import { strategyLabel, strategyOnDelete } from '../moco/names.ts';
import type { StatefulSetRecord } from '../moco/records.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-api.ts';

/** The reason of a failure that is ours: the API server has shown that admission does not do its part. */
export const admissionNotInForce = 'AdmissionNotInForce';

const label = { [strategyLabel]: strategyOnDelete };
const adopting: StatefulSetPatch = {
  labels: label,
  spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
};
/** As whoever writes the StatefulSet next may ask for it. */
const overruling: StatefulSetPatch = {
  labels: label,
  spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
};
/** Nobody reads it: it is never stored. */
const probe = { 'moco-rollout.io/admission-probe': 'true' };

/**
 * Puts a StatefulSet at OnDelete with the label that keeps it there. Two dry runs come first: the same patch, and one
 * that asks for RollingUpdate, as MOCO's next write does. Unless both come back at OnDelete with the label nothing is
 * written.
 */
export async function adopt(
  statefulSet: StatefulSetRecord,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<StatefulSetRecord | null> {
  for (const [patch, what] of [
    [adopting, 'a dry run that sets OnDelete'],
    [overruling, 'a dry run that asks for RollingUpdate'],
  ] as const) {
    const came = await triedOut(() => api.patchStatefulSet(statefulSet, patch, signal, true), what);
    if (!isAdopted(came)) throw notInForce(`${what} came back ${described(came)}`);
  }
  const after = await api.patchStatefulSet(statefulSet, adopting, signal);
  if (!isAdopted(after)) throw notInForce(`the StatefulSet was set to OnDelete and came back ${described(after)}`);
  return after;
}

/**
 * Whether admission answers MOCO's next write with partition = replicas, before the partition is lowered to this. What
 * is sent as a dry run changes the partition and an annotation: MOCO's webhook, or the one of the own partition driver,
 * takes the partition back; without either it would stay. Rejects where it is not so.
 */
export async function provePartitionHeld(
  statefulSet: StatefulSetRecord,
  partition: number,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<void> {
  const what = `a dry run that sets partition ${partition} and an annotation`;
  const patch = { annotations: probe, spec: { updateStrategy: { rollingUpdate: { partition } } } };
  const came = await triedOut(() => api.patchStatefulSet(statefulSet, patch, signal, true), what);
  if (came?.strategy === 'RollingUpdate' && came.partition === statefulSet.replicas) return;
  throw notInForce(`${what} came back ${described(came)} instead of ${statefulSet.replicas}`);
}

const isAdopted = (came: StatefulSetRecord | null): boolean => came?.strategy === 'OnDelete' && came.labelled;

function described(came: StatefulSetRecord | null): string {
  if (came === null) return 'as no StatefulSet of MOCO';
  if (came.strategy === 'RollingUpdate') return `at RollingUpdate with partition ${came.partition ?? 'none'}`;
  return came.labelled ? 'at OnDelete' : `at OnDelete without the label ${strategyLabel}`;
}

const notInForce = (message: string): ApiError => new ApiError({ status: 422, reason: admissionNotInForce, message });

/** An object that another webhook has made invalid, and a webhook that panics, are answers; who may not write is another matter. */
async function triedOut<T>(write: () => Promise<T>, what: string): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || !(isInvalid(error) || isInternalError(error))) throw error;
    throw notInForce(`${what} was refused: ${error.message}`);
  }
}
