import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../core/decision.ts';
import { isConflict, isNotFound } from '../kube/api-error.ts';
import type { World } from '../kube/world.ts';
import { timestampOf } from '../moco/timestamp.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Gathered } from './gather.ts';
import { statusOf } from './status.ts';

/** What changes within this time goes into one write; the intent of a step never waits for it. */
const coalescedMilliseconds = 500;

/**
 * Writes the status where it says something new. Resolves to the milliseconds after which that is due, when it is
 * too early for it, else `null`.
 */
export async function publish(
  gathered: Gathered,
  decision: Decision,
  state: ClusterState,
  heldForSeconds: number,
  api: ClusterApi,
  world: World,
  signal: AbortSignal,
): Promise<number | null> {
  const { rollout, objects } = gathered;
  if (rollout === null || objects.cluster.deleting || rollout.metadata.deletionTimestamp !== undefined) return null;
  const status = statusOf(gathered, decision, state, heldForSeconds, timestampOf(world.wall()), null);
  if (isDeepStrictEqual(status, rollout.status ?? {})) return null;
  const dueIn = state.publishedAtMilliseconds + coalescedMilliseconds - world.monotonic();
  if (dueIn > 0) return dueIn;
  try {
    state.rollout = await api.replaceRolloutStatus(rollout, status, 'status', signal);
    state.publishedAtMilliseconds = world.monotonic();
    state.finished = null;
  } catch (error) {
    // Somebody else has written, or it is gone: the watch brings that, and with it another pass.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
  return null;
}
