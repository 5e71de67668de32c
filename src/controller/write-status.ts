import { isConflict, isNotFound } from '../kube/api-error.ts';
import { keyOf } from './cache.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Context } from './context.ts';
import { fieldsNotKept, rememberedOf } from './fields-not-kept.ts';
import { isOwnOf, type MySQLRollout, type RolloutStatus } from './rollout-resource.ts';

/** How often it is looked whether the CRD is still too old. */
export const lookAgainMilliseconds = 30_000;

/**
 * Replaces the status of the MySQLRollout as it was read. Resolves to whether all of it that has to be remembered is
 * written down now; not when another leader or the user has written since, or it is gone: the watch brings that, and
 * with it another pass. Not either where the API server keeps only a part of it: `state.notKept` says which not.
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
  const objects = cache.objects(key);
  // One that another cluster owns has no slot.
  if (objects === null || isOwnOf(objects.cluster, rollout)) fleet.note(key, state.rollout);
  announcer.published(rollout.status ?? {}, status, objects);
  state.finished = null;
  state.publishedAtMilliseconds = world.monotonic();
  state.unpublished = null;
  const fields = fieldsNotKept(status, state.rollout.status);
  if (fields.length === 0) return true;
  const { notKept } = state;
  state.notKept = {
    fields: [...new Set([...(notKept?.fields ?? []), ...fields])].toSorted(),
    sent: { ...notKept?.sent, ...rememberedOf(status) },
    atMilliseconds: notKept?.atMilliseconds ?? world.monotonic(),
  };
  return false;
}

/** Looks, without writing anything, whether the API server keeps by now what it has left out. */
export async function lookAtNotKept(
  { api, world }: Context,
  rollout: MySQLRollout,
  state: ClusterState,
  signal: AbortSignal,
): Promise<void> {
  const { notKept } = state;
  if (notKept === null || world.monotonic() - notKept.atMilliseconds < lookAgainMilliseconds) return;
  const status = { ...rollout.status, ...notKept.sent };
  try {
    const kept = await api.replaceRolloutStatus(rollout, status, 'status', signal, true);
    const fields = fieldsNotKept(notKept.sent, kept.status);
    state.notKept = fields.length === 0 ? null : { ...notKept, fields, atMilliseconds: world.monotonic() };
  } catch (error) {
    // Its newest version is on its way to the cache.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
