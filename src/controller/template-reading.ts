import { ApiError } from '../kube/api-error.ts';
import type { World } from '../kube/world.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Gathered } from './gather.ts';
import { templateChanges } from './template-changes.ts';

/** How long templates are left alone that could not be read, or whose changes the status has no room for. */
const againMilliseconds = 300_000;

/**
 * Reads, once for a rollout, what it changes in the pod template: both revisions, from the API server, to be forgotten
 * at once. Nothing but the status needs it, so that one which may not be read or is gone keeps nothing from going on.
 */
export async function refreshTemplate(
  { rollout, objects }: Gathered,
  state: ClusterState,
  api: ClusterApi,
  world: World,
  signal: AbortSignal,
): Promise<void> {
  const progress = rollout?.status?.rollout;
  const { revision: to, from } = progress ?? {};
  if (!objects.statefulSet || to === undefined || from === undefined || progress?.changes !== undefined) return;
  if (to !== objects.statefulSet.updateRevision) return;
  const known = state.template;
  const now = world.monotonic();
  if (known?.from === from && known.to === to && now - known.atMilliseconds < againMilliseconds) return;
  state.template = { from, to, changes: null, atMilliseconds: now };
  const { namespace } = objects.cluster;
  try {
    const [before, after] = await Promise.all([
      api.readTemplate(namespace, from, signal),
      api.readTemplate(namespace, to, signal),
    ]);
    if (before && after) state.template = { ...state.template, changes: templateChanges(before, after) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
