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
/** The API server derives it from the name of this program in its requests. */
const ownManager = 'moco-rollout';
/** A partition that was lowered so often within so long, and reset each time, is not lowered again for so long. */
const mostLowered = { times: 3, withinMilliseconds: 600_000, restsMilliseconds: 3_600_000 };
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

/** How often this program has set the same partition. Another template or size of the cluster begins anew. */
export interface Lowered {
  readonly of: string;
  readonly partition: number;
  readonly times: number;
  readonly atMilliseconds: number;
}

/** What a cluster's state remembers of such writes. */
export interface ContentionMemory {
  specWrites: SpecWrites | null;
  lowered: Lowered | null;
  /** What was found the last time, for which generation of the MySQLCluster. */
  altered: {
    readonly generation: number;
    readonly fields: Contention['fields'];
    readonly atMilliseconds: number;
  } | null;
}

interface Objects {
  readonly cluster: ClusterRecord;
  readonly statefulSet: StatefulSetRecord | null;
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

export function noteLowered(state: ContentionMemory, partition: number, objects: Objects, world: World): void {
  const { lowered: before } = state;
  const now = world.monotonic();
  const of = loweredOf(objects);
  const isAgain =
    before?.of === of && before.partition === partition && now - before.atMilliseconds < mostLowered.withinMilliseconds;
  state.lowered = { of, partition, times: isAgain ? before.times + 1 : 1, atMilliseconds: now };
}

const loweredOf = ({ cluster, statefulSet }: Objects): string =>
  [cluster.generation, statefulSet?.uid, statefulSet?.updateRevision].join(' ');

/**
 * Whether somebody writes the spec again and again, at least once a second for at least ten seconds, or resets the partition
 * each time that this program lowers it: the StatefulSet controller may then have deleted the member, and creates it at its
 * old revision again.
 */
export function contentionFacts(state: ContentionMemory, objects: Objects, world: World): Contention | null {
  const { statefulSet } = objects;
  if (statefulSet === null) return null;
  const writesPerSecond = rateOf(state, statefulSet, world);
  if (writesPerSecond === null && !isReset(state, objects, world)) return null;
  const managers = statefulSet.managers.filter((manager) => writesPerSecond !== null || manager !== ownManager);
  return { writesPerSecond, managers, fields: state.altered?.fields ?? [] };
}

function rateOf({ specWrites }: ContentionMemory, statefulSet: StatefulSetRecord, world: World): number | null {
  if (specWrites?.uid !== statefulSet.uid) return null;
  const { generation, atMilliseconds } = specWrites.earlier;
  const passedMilliseconds = world.monotonic() - atMilliseconds;
  if (passedMilliseconds < windowMilliseconds) return null;
  const perSecond = ((statefulSet.generation - generation) * 1000) / passedMilliseconds;
  return rates.find((rate) => perSecond >= rate) ?? null;
}

function isReset({ lowered }: ContentionMemory, objects: Objects, world: World): boolean {
  if (lowered?.of !== loweredOf(objects) || lowered.times < mostLowered.times) return false;
  if (world.monotonic() - lowered.atMilliseconds >= mostLowered.restsMilliseconds) return false;
  return (objects.statefulSet?.partition ?? 0) > lowered.partition;
}

interface Observed {
  readonly snapshot: { readonly contention: Contention | null };
  readonly objects: Objects;
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
