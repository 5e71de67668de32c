import { ApiError, isInternalError } from '../kube/api-error.ts';
import { strategyLabel } from '../moco/names.ts';
import type { StatefulSetRecord } from '../moco/records.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-api.ts';

/** The reason of a refusal that is ours: the API server would have taken it. */
export const handBackUnsafe = 'HandBackUnsafe';

/**
 * Takes our label off and brings rolling updates back in one patch. MOCO's webhook adds partition = replicas to one
 * that names none, and panics over one that does where there was none; without MOCO's webhook the patch has to name it.
 * Either is tried with a dry run first: unless it comes out with a partition that takes nobody it is not sent. Where
 * MOCO's native rolling update is forced there is no partition to be had, and none is asked for.
 */
export async function giveBack(
  statefulSet: StatefulSetRecord,
  api: ClusterApi,
  signal: AbortSignal,
): Promise<StatefulSetRecord | null> {
  const { replicas, forcedRollingUpdate } = statefulSet;
  const came: string[] = [];
  for (const patch of [withPartition(null), withPartition(replicas)]) {
    const tried = await refusedOr(() => api.patchStatefulSet(statefulSet, patch, signal, true), came);
    if (tried === null) continue;
    const takesNobody = tried.strategy === 'RollingUpdate' && tried.partition === replicas;
    if ((takesNobody || forcedRollingUpdate) && !tried.labelled)
      return api.patchStatefulSet(statefulSet, patch, signal);
    came.push(`it would come out as ${tried.strategy} with partition ${tried.partition ?? 'none'} of ${replicas}`);
  }
  throw new ApiError({ status: 422, reason: handBackUnsafe, message: [...new Set(came)].join('; ') });
}

function withPartition(partition: number | null): StatefulSetPatch {
  return {
    labels: { [strategyLabel]: null },
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: partition === null ? null : { partition } } },
  };
}

/** A webhook that panics answers 500: the other form of the patch may do. */
async function refusedOr<T>(write: () => Promise<T>, came: string[]): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || !isInternalError(error)) throw error;
    came.push(error.message);
    return null;
  }
}
