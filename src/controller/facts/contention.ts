import type { Contention } from '../../core/snapshot.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../moco/records.ts';

// Detects a program that writes the StatefulSet again and again.

/** Neither MOCO's partition controller nor a rollout writes the StatefulSet this often. */
const windowMilliseconds = 10_000;
/** In coarse steps, so that the sentence stays the same while the rate varies. */
const rates = [100, 10, 1] as const;
/** The API server derives it from the name of this program in its requests. */
const ownManager = 'moco-rollout';
/** After this many resets within this time, the controller stops lowering the partition for a while. */
const mostLowered = { times: 3, withinMilliseconds: 600_000, restsMilliseconds: 3_600_000 };

interface SeenGeneration {
  readonly generation: number;
  readonly atMilliseconds: number;
}

/**
 * Two generations that are at least a window apart: the API server counts the writes between them, whether or not a
 * watch saw them.
 */
export interface SpecWrites {
  readonly uid: string;
  readonly earlier: SeenGeneration;
  readonly later: SeenGeneration;
}

/**
 * How often this program has set the same partition. Starts again with another template or another size of the cluster.
 */
export interface Lowered {
  readonly of: string;
  readonly partition: number;
  readonly times: number;
  readonly atMilliseconds: number;
}

export interface WrittenObjects {
  readonly cluster: ClusterRecord;
  readonly statefulSet: StatefulSetRecord | null;
}

/** The remembered writes of the spec, for this generation of the StatefulSet. */
export function writesSeen(
  known: SpecWrites | null,
  statefulSet: StatefulSetRecord | null,
  nowMilliseconds: number,
): SpecWrites | null {
  if (statefulSet === null) return known;
  const { uid, generation } = statefulSet;
  const now: SeenGeneration = { generation, atMilliseconds: nowMilliseconds };
  if (known?.uid !== uid) return { uid, earlier: now, later: now };
  const isWindow = nowMilliseconds - known.later.atMilliseconds >= windowMilliseconds;
  return isWindow && generation >= known.later.generation ? { uid, earlier: known.later, later: now } : known;
}

/** What is remembered of a partition that this program has just set. */
export function loweredTo(
  before: Lowered | null,
  partition: number,
  objects: WrittenObjects,
  nowMilliseconds: number,
): Lowered {
  const of = loweredOf(objects);
  const isAgain =
    before?.of === of &&
    before.partition === partition &&
    nowMilliseconds - before.atMilliseconds < mostLowered.withinMilliseconds;
  return { of, partition, times: isAgain ? before.times + 1 : 1, atMilliseconds: nowMilliseconds };
}

const loweredOf = ({ cluster, statefulSet }: WrittenObjects): string =>
  [cluster.generation, statefulSet?.uid, statefulSet?.updateRevision].join(' ');

/**
 * Whether somebody writes the spec again and again: at least once a second for at least ten seconds, or by resetting
 * the partition each time that this program lowers it. In the second case the StatefulSet controller may have deleted
 * the member by then, and recreates it at its old revision.
 */
export function contentionFacts(
  specWrites: SpecWrites | null,
  lowered: Lowered | null,
  fields: Contention['fields'],
  objects: WrittenObjects,
  nowMilliseconds: number,
): Contention | null {
  const { statefulSet } = objects;
  if (statefulSet === null) return null;
  const writesPerSecond = rateOf(specWrites, statefulSet, nowMilliseconds);
  if (writesPerSecond === null && !isReset(lowered, objects, nowMilliseconds)) return null;
  const managers = statefulSet.managers.filter((manager) => writesPerSecond !== null || manager !== ownManager);
  return { writesPerSecond, managers, fields };
}

function rateOf(specWrites: SpecWrites | null, statefulSet: StatefulSetRecord, nowMilliseconds: number): number | null {
  if (specWrites?.uid !== statefulSet.uid) return null;
  const { generation, atMilliseconds } = specWrites.earlier;
  const passedMilliseconds = nowMilliseconds - atMilliseconds;
  if (passedMilliseconds < windowMilliseconds) return null;
  const perSecond = ((statefulSet.generation - generation) * 1000) / passedMilliseconds;
  return rates.find((rate) => perSecond >= rate) ?? null;
}

function isReset(lowered: Lowered | null, objects: WrittenObjects, nowMilliseconds: number): boolean {
  if (lowered?.of !== loweredOf(objects) || lowered.times < mostLowered.times) return false;
  if (nowMilliseconds - lowered.atMilliseconds >= mostLowered.restsMilliseconds) return false;
  return (objects.statefulSet?.partition ?? 0) > lowered.partition;
}
