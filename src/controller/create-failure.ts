import type { Decision } from '../core/decision.ts';
import { ApiError } from '../kube/api-error.ts';
import type { World } from '../kube/world.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Gathered } from './gather.ts';
import { shownAfterSeconds } from './status.ts';

const staleAfterMilliseconds = 30_000;

/**
 * Reads why the StatefulSet can't make a member that has been missing for a while: a quota, a policy or a webhook says
 * it in an Event and nowhere else. Resolves to whether that is another sentence than before. It is there for people alone:
 * where Events can't be read, nothing else waits for it.
 */
export async function refreshCreateFailure(
  { objects }: Gathered,
  { hold }: Decision,
  state: ClusterState,
  api: ClusterApi,
  world: World,
  signal: AbortSignal,
): Promise<boolean> {
  const before = state.createFailure;
  const now = world.monotonic();
  if (hold?.rule !== 'MemberMissing' || objects.statefulSet === null) {
    state.createFailure = null;
    return false;
  }
  const { holding } = state;
  const missingFor = holding?.rule === hold.rule ? now - holding.sinceMilliseconds : 0;
  if (missingFor < shownAfterSeconds * 1000) return false;
  if (before !== null && now - before.atMilliseconds < staleAfterMilliseconds) return false;
  const message = await api.readCreateFailure(objects.statefulSet, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return before?.message ?? null;
  });
  state.createFailure = { message, atMilliseconds: now };
  return message !== (before?.message ?? null);
}
