import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import { templateChanges } from '../../moco/template-changes.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** The delay before templates are read again that could not be read, or whose changes the status has no room for. */
const againMilliseconds = 300_000;

/**
 * Reads once for each rollout what it changes in the pod template. Both revisions are read from the API server and not
 * kept. Only the status needs the changes, so an unreadable or missing revision blocks nothing. Resolves to whether
 * the changes became known.
 */
export async function refreshTemplate(
  { rollout, objects }: ObservedFacts,
  state: ClusterState,
  api: ClusterReader,
  world: World,
  signal: AbortSignal,
): Promise<boolean> {
  const progress = rollout?.status?.rollout;
  const { revision: to, from } = progress ?? {};
  if (!objects.statefulSet || to === undefined || from === undefined || progress?.changes !== undefined) return false;
  if (to !== objects.statefulSet.updateRevision) return false;
  const known = state.template;
  const now = world.monotonic();
  if (known?.from === from && known.to === to && now - known.atMilliseconds < againMilliseconds) return false;
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
  return state.template.changes !== null;
}
