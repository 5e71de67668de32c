import { isOwnOf, type MySQLRollout } from '../../api/rollout.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { ApiError, isBadRequest, isConflict, isInvalid, isNotFound } from '../../kube/api-error.ts';
import { nameOf } from '../../kube/store.ts';
import type { Pass } from '../pass/pass.ts';
import { rememberStatusRefused, rememberWritten } from '../pass/remember.ts';
import { emitNews } from './emit.ts';
import type { StatusClient } from './status-client.ts';
import type { StatusReport } from './status-report.ts';

/** `overtaken`: the object was changed or deleted in the meantime. Its watch event triggers another reconciliation. */
export type StatusWrite = 'written' | 'overtaken' | 'refused';

/**
 * Replaces the status of the MySQLRollout that was read. `refused`: the CRD of the API server does not know all
 * fields, and nothing was written; the refusal is remembered.
 */
export async function writeStatus(
  { memory, api, context: { world, fleet, cache } }: Pass<StatusClient>,
  rollout: MySQLRollout,
  status: RolloutStatus,
  priority: 'disrupt' | 'status',
): Promise<StatusWrite> {
  let kept: MySQLRollout;
  try {
    kept = await api.replaceRolloutStatus(rollout, status, priority);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return 'overtaken';
    if (!(error instanceof ApiError && (isBadRequest(error) || isInvalid(error)))) throw error;
    rememberStatusRefused(memory, error.message, status.intent !== undefined, world.monotonic());
    return 'refused';
  }
  rememberWritten(memory, kept);
  const key = nameOf(rollout.metadata);
  const objects = cache.objects(key);
  // A MySQLRollout that another cluster owns has no slot.
  if (objects === null || isOwnOf(objects.cluster, rollout)) fleet.note(key, kept);
  return 'written';
}

/** Writes an intent to the status, or removes a settled one. */
export async function writeIntent(
  pass: Pass<StatusClient>,
  rollout: MySQLRollout,
  { status, news }: StatusReport,
): Promise<StatusWrite> {
  const result = await writeStatus(pass, rollout, status, 'disrupt');
  if (result === 'written') {
    const objects = pass.context.cache.objects(pass.key);
    emitNews(news, objects && { objects, rollout }, pass.context);
  }
  return result;
}
