import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../core/decision.ts';
import { timestampOf } from '../moco/timestamp.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Context } from './context.ts';
import type { Gathered } from './gather.ts';
import { statusOf } from './status.ts';
import { writeStatus } from './write-status.ts';

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
  context: Context,
  signal: AbortSignal,
): Promise<number | null> {
  const { rollout, objects } = gathered;
  if (rollout === null || objects.cluster.deleting || rollout.metadata.deletionTimestamp !== undefined) return null;
  const status = statusOf(gathered, decision, state, heldForSeconds, timestampOf(context.world.wall()), null);
  if (isDeepStrictEqual(status, rollout.status ?? {})) return null;
  const dueIn = state.publishedAtMilliseconds + coalescedMilliseconds - context.world.monotonic();
  if (dueIn > 0) return dueIn;
  await writeStatus(context, rollout, status, state, 'status', signal);
  return null;
}
