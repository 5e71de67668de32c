import type { Contention } from '../../core/snapshot.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import type { ClusterReader } from './cluster-reader.ts';
import type { ClusterState, SeenGeneration } from './cluster-state.ts';
import type { ObservedFacts } from './snapshot.ts';

/** MOCO's partition controller writes less often than that, and a rollout too. */
const windowMilliseconds = 10_000;
/** Steps, so that the sentence stays the same while the rate varies. */
const rates = [100, 10, 1] as const;
/** The delay before the objects are read again. */
const againMilliseconds = 300_000;

export function noteWrites(state: ClusterState, statefulSet: StatefulSetRecord | null, world: World): void {
  if (statefulSet === null) return;
  const { uid, generation } = statefulSet;
  const now: SeenGeneration = { generation, atMilliseconds: world.monotonic() };
  const known = state.specWrites;
  if (known?.uid !== uid) state.specWrites = { uid, earlier: now, later: now };
  else if (
    now.atMilliseconds - known.later.atMilliseconds >= windowMilliseconds &&
    generation >= known.later.generation
  )
    state.specWrites = { uid, earlier: known.later, later: now };
}

/** Whether somebody writes the spec again and again, at least once a second for at least ten seconds. */
export function contentionFacts(
  state: ClusterState,
  statefulSet: StatefulSetRecord | null,
  world: World,
): Contention | null {
  const { specWrites, altered } = state;
  if (statefulSet === null || specWrites?.uid !== statefulSet.uid) return null;
  const { generation, atMilliseconds } = specWrites.earlier;
  const passedMilliseconds = world.monotonic() - atMilliseconds;
  if (passedMilliseconds < windowMilliseconds) return null;
  const perSecond = ((statefulSet.generation - generation) * 1000) / passedMilliseconds;
  const writesPerSecond = rates.find((rate) => perSecond >= rate);
  return writesPerSecond === undefined
    ? null
    : { writesPerSecond, managers: statefulSet.managers, fields: altered?.fields ?? [] };
}

/**
 * Reads once for each generation of the MySQLCluster why MOCO applies the StatefulSet again and again. Both objects are
 * read whole and not kept. Resolves to whether the fields changed.
 */
export async function refreshAlteredFields(
  { snapshot, objects: { cluster, statefulSet } }: ObservedFacts,
  state: ClusterState,
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
