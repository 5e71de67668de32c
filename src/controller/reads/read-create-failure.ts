import type { Decision } from '../../core/decision.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import type { Readings } from '../facts/readings.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** Most missing members are created sooner. */
const readAfterSeconds = 10;
const staleAfterMilliseconds = 30_000;

/**
 * Reads why the StatefulSet cannot create a member that has been missing for a while. Only an Event tells that a
 * quota, a policy or a webhook refuses the pod. Resolves to what was known if it need not be read. The message is only
 * informative: if Events cannot be read, nothing else is delayed.
 */
export async function readCreateFailure(
  {
    objects,
    decision: { hold },
    heldForSeconds,
  }: ObservedFacts & { readonly decision: Decision; readonly heldForSeconds: number },
  { createFailure: known }: Readings,
  api: ClusterReader,
  world: World,
): Promise<Readings['createFailure']> {
  const now = world.monotonic();
  if (hold?.rule !== 'MemberMissing' || objects.statefulSet === null) return null;
  if (heldForSeconds < readAfterSeconds) return known;
  if (known !== null && now - known.atMilliseconds < staleAfterMilliseconds) return known;
  const message = await api.readCreateFailure(objects.statefulSet).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return known?.message ?? null;
  });
  return { message, atMilliseconds: now };
}
