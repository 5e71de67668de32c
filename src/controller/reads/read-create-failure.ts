import type { Decision } from '../../core/decision.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** Most missing members are created sooner. */
const readAfterMilliseconds = 10_000;
const staleAfterMilliseconds = 30_000;

/**
 * Reads why the StatefulSet cannot create a member that has been missing for a while. Only an Event tells that a
 * quota, a policy or a webhook refuses the pod. Resolves to whether the message changed. The message is only
 * informative: if Events cannot be read, nothing else is delayed.
 */
export async function refreshCreateFailure(
  { objects }: ObservedFacts,
  { hold }: Decision,
  state: ClusterState,
  api: ClusterReader,
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
  if (missingFor < readAfterMilliseconds) return false;
  if (before !== null && now - before.atMilliseconds < staleAfterMilliseconds) return false;
  const message = await api.readCreateFailure(objects.statefulSet, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return before?.message ?? null;
  });
  state.createFailure = { message, atMilliseconds: now };
  return message !== (before?.message ?? null);
}
