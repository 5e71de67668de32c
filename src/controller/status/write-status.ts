import { isOwnOf, type MySQLRollout } from '../../api/rollout.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { ApiError, isBadRequest, isConflict, isInvalid, isNotFound } from '../../kube/api-error.ts';
import { keyOf } from '../../kube/store.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import { rememberStatusRefused, rememberWritten } from '../pass/remember.ts';
import type { ReportContext } from './report-context.ts';

/** `overtaken`: the object was changed or deleted in the meantime. Its watch event triggers another reconciliation. */
export type StatusWrite = 'written' | 'overtaken' | 'refused';

/**
 * Replaces the status of the MySQLRollout that was read. `refused`: the CRD of the API server does not know all
 * fields, and nothing was written; the refusal is remembered.
 */
export async function writeStatus(
  { api, world, fleet, cache }: ReportContext,
  rollout: MySQLRollout,
  status: RolloutStatus,
  state: ClusterState,
  priority: 'disrupt' | 'status',
  signal: AbortSignal,
): Promise<StatusWrite> {
  let kept: MySQLRollout;
  try {
    kept = await api.replaceRolloutStatus(rollout, status, priority, signal);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return 'overtaken';
    if (!(error instanceof ApiError && (isBadRequest(error) || isInvalid(error)))) throw error;
    rememberStatusRefused(state, error.message, status.intent !== undefined, world.monotonic());
    return 'refused';
  }
  rememberWritten(state, kept);
  const key = keyOf(rollout.metadata.namespace, rollout.metadata.name);
  const objects = cache.objects(key);
  // A MySQLRollout that another cluster owns has no slot.
  if (objects === null || isOwnOf(objects.cluster, rollout)) fleet.note(key, kept);
  return 'written';
}
