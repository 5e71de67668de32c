import { isConflict, isNotFound } from '../kube/api-error.ts';
import { keyOf } from './cache.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Context } from './context.ts';
import type { MySQLRollout, RolloutStatus } from './rollout-resource.ts';

/**
 * Replaces the status of the MySQLRollout as it was read. Resolves to whether that could be done; not when another
 * leader or the user has written since, or it is gone: the watch brings that, and with it another pass.
 */
export async function writeStatus(
  { api, world, announcer, fleet, cache }: Context,
  rollout: MySQLRollout,
  status: RolloutStatus,
  state: ClusterState,
  lane: 'disrupt' | 'status',
  signal: AbortSignal,
): Promise<boolean> {
  try {
    state.rollout = await api.replaceRolloutStatus(rollout, status, lane, signal);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
  const key = keyOf(rollout.metadata.namespace, rollout.metadata.name);
  fleet.note(key, state.rollout);
  announcer.published(rollout.status ?? {}, status, cache.objects(key));
  state.finished = null;
  state.publishedAtMilliseconds = world.monotonic();
  return true;
}
