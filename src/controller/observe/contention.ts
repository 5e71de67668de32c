import type { Contention } from '../../core/snapshot.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../moco/records.ts';
import type { ClusterReader } from './cluster-reader.ts';

/** MOCO's partition controller writes less often than that, and a rollout too. */
const windowMilliseconds = 10_000;
/** Steps, so that the sentence stays the same while the rate varies. */
const rates = [100, 10, 1] as const;
/** The delay before the objects are read again. */
const againMilliseconds = 300_000;

/** A generation of the StatefulSet, and when it was first seen. */
interface Seen {
  readonly generation: number;
  readonly atMilliseconds: number;
}

/** Two generations at least a window apart: the API server counts the writes between them, seen or not. */
export interface SpecWrites {
  readonly uid: string;
  readonly earlier: Seen;
  readonly later: Seen;
}

/** What a cluster's state remembers of such writes. */
export interface ContentionMemory {
  specWrites: SpecWrites | null;
  /** What was found the last time, for which generation of the MySQLCluster. */
  altered: {
    readonly generation: number;
    readonly fields: Contention['fields'];
    readonly atMilliseconds: number;
  } | null;
}

export function noteWrites(state: ContentionMemory, statefulSet: StatefulSetRecord | null, world: World): void {
  if (statefulSet === null) return;
  const { uid, generation } = statefulSet;
  const now: Seen = { generation, atMilliseconds: world.monotonic() };
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
  state: ContentionMemory,
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

interface Observed {
  readonly snapshot: { readonly contention: Contention | null };
  readonly objects: { readonly cluster: ClusterRecord; readonly statefulSet: StatefulSetRecord | null };
}

/**
 * Reads once for each generation of the MySQLCluster why MOCO applies the StatefulSet again and again. Both objects are
 * read whole and not kept. Resolves to whether the fields changed.
 */
export async function refreshAlteredFields(
  { snapshot, objects: { cluster, statefulSet } }: Observed,
  state: ContentionMemory,
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
