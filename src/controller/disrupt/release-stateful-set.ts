import { ApiError, isInternalError } from '../../kube/api-error.ts';
import { newPodsLabel, strategyLabel } from '../../moco/names.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import { releaseUnsafe } from '../facts/admission.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-client.ts';

/**
 * Removes our labels and restores rolling updates in a single patch. MOCO's webhook adds partition = replicas to a
 * patch without a partition, and panics if a patch adds a partition where there was none. Without MOCO's webhook the
 * patch must contain the partition. A dry run tries each form first: a form is sent only if its resulting partition
 * updates no member. If MOCO's native rolling update is forced, a partition is impossible and none is requested.
 */
export async function release(statefulSet: StatefulSetRecord, api: ClusterApi): Promise<StatefulSetRecord | null> {
  const { replicas, forcedRollingUpdate } = statefulSet;
  const reasons: string[] = [];
  for (const patch of [withPartition(null), withPartition(replicas)]) {
    const tried = await refusedOr(() => api.patchStatefulSet(statefulSet, patch, true), reasons);
    if (tried === null) continue;
    const takesNobody = tried.strategy === 'RollingUpdate' && tried.partition === replicas;
    const isUnlabelled = !tried.labelled && tried.newPods === 'UpdateRevision';
    if ((takesNobody || forcedRollingUpdate) && isUnlabelled) return api.patchStatefulSet(statefulSet, patch);
    reasons.push(`the result would be ${tried.strategy} with partition ${tried.partition ?? 'none'} of ${replicas}`);
  }
  throw new ApiError({ status: 422, reason: releaseUnsafe, message: [...new Set(reasons)].join('; ') });
}

function withPartition(partition: number | null): StatefulSetPatch {
  return {
    labels: { [strategyLabel]: null, [newPodsLabel]: null },
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: partition === null ? null : { partition } } },
  };
}

/** A webhook that panics answers with 500: the other form of the patch may succeed. */
async function refusedOr<T>(write: () => Promise<T>, reasons: string[]): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || !isInternalError(error)) throw error;
    reasons.push(error.message);
    return null;
  }
}
