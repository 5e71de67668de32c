import type { Contention } from '../../core/snapshot.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import type { WrittenObjects } from '../facts/contention.ts';
import type { Readings } from '../facts/readings.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** The delay before the objects are read again. */
const againMilliseconds = 300_000;

interface Observed {
  readonly snapshot: { readonly contention: Contention | null };
  readonly objects: WrittenObjects;
}

/**
 * Reads once for each generation of the MySQLCluster why MOCO applies the StatefulSet again and again. Both objects are
 * read whole and not kept. Resolves to what was known if it need not be read.
 */
export async function readAlteredFields(
  { snapshot, objects: { cluster, statefulSet } }: Observed,
  { altered: known }: Readings,
  api: ClusterReader,
  world: World,
): Promise<Readings['altered']> {
  if (snapshot.contention === null || statefulSet === null) return null;
  const { namespace, name, generation } = cluster;
  const now = world.monotonic();
  if (known?.generation === generation && now - known.atMilliseconds < againMilliseconds) return known;
  const unread = { generation, fields: [], atMilliseconds: now };
  try {
    const whole = await api.readCluster(namespace, name);
    const live = await api.read('StatefulSet', namespace, statefulSet.name);
    return whole && live ? { ...unread, fields: alteredFields(whole, live) } : unread;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return unread;
  }
}
