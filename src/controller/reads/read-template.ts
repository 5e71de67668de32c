import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import { templateChanges } from '../../moco/template-changes.ts';
import type { ObservedFacts } from '../facts/collect-facts.ts';
import type { Readings } from '../facts/readings.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** The delay before templates are read again that could not be read, or whose changes the status has no room for. */
const againMilliseconds = 300_000;

/**
 * Reads once for each rollout what it changes in the pod template. Both revisions are read from the API server and not
 * kept. Only the status needs the changes, so an unreadable or missing revision blocks nothing. Resolves to what was
 * known if it need not be read.
 */
export async function readTemplate(
  { rollout, objects }: ObservedFacts,
  { template: known }: Readings,
  api: ClusterReader,
  world: World,
): Promise<Readings['template']> {
  const progress = rollout?.status?.rollout;
  const { revision: to, from } = progress ?? {};
  if (!objects.statefulSet || to === undefined || from === undefined || progress?.changes !== undefined) return known;
  if (to !== objects.statefulSet.updateRevision) return known;
  const now = world.monotonic();
  if (known?.from === from && known.to === to && now - known.atMilliseconds < againMilliseconds) return known;
  const unread = { from, to, changes: null, atMilliseconds: now };
  const { namespace } = objects.cluster;
  try {
    const [before, after] = await Promise.all([api.readTemplate(namespace, from), api.readTemplate(namespace, to)]);
    return before && after ? { ...unread, changes: templateChanges(before, after) } : unread;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return unread;
  }
}
