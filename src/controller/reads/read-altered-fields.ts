import type { Contention } from '../../core/snapshot.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import type { ContentionMemory, WrittenObjects } from '../facts/contention.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** The delay before the objects are read again. */
const againMilliseconds = 300_000;

interface Observed {
  readonly snapshot: { readonly contention: Contention | null };
  readonly objects: WrittenObjects;
}

/**
 * Reads once for each generation of the MySQLCluster why MOCO applies the StatefulSet again and again. Both objects are
 * read whole and not kept. Resolves to whether the fields changed.
 */
export async function refreshAlteredFields(
  { snapshot, objects: { cluster, statefulSet } }: Observed,
  state: { altered: ContentionMemory['altered'] },
  api: ClusterReader,
  world: World,
  signal: AbortSignal,
): Promise<boolean> {
  if (snapshot.contention === null || statefulSet === null) {
    state.altered = null;
    return false;
  }
  const { namespace, name, generation } = cluster;
  const { altered: known } = state;
  const now = world.monotonic();
  if (known?.generation === generation && now - known.atMilliseconds < againMilliseconds) return false;
  state.altered = { generation, fields: [], atMilliseconds: now };
  try {
    const whole = await api.readCluster(namespace, name, signal);
    const live = await api.read('StatefulSet', namespace, statefulSet.name, signal);
    if (whole && live) state.altered = { ...state.altered, fields: alteredFields(whole, live) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return state.altered.fields.length > 0 || (known?.fields.length ?? 0) > 0;
}
