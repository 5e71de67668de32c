import type { Contention } from '../../core/snapshot.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../moco/records.ts';

// Detects a program that keeps rewriting the StatefulSet.

/** Neither MOCO's partition controller nor a rollout writes the StatefulSet this often. */
const windowMilliseconds = 10_000;
/** Messages show only these rates, so that a message does not change whenever the rate varies. */
const rates = [100, 10, 1] as const;
/** The field manager that the API server derives from this program's user agent. */
const ownManager = 'moco-rollout';
/**
 * After this many resets of the partition within this time, the controller stops lowering the partition for a while.
 */
const mostLowered = { times: 3, withinMilliseconds: 600_000, restsMilliseconds: 3_600_000 };

interface SeenGeneration {
  readonly generation: number;
  readonly atMilliseconds: number;
}

/**
 * Two generations of the StatefulSet, observed at least ten seconds apart. The API server counts every write between
 * them, including writes that no watch saw.
 */
export interface SpecWrites {
  readonly uid: string;
  readonly earlier: SeenGeneration;
  readonly later: SeenGeneration;
}

/**
 * How often this program has set the partition to the same value. Counting starts over when the template or the size of
 * the cluster changes.
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

/** The recorded generations after this observation of the StatefulSet. */
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

/** The record after this program has set a partition. */
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
 * Whether another program keeps writing the StatefulSet's spec: at least once a second for at least ten seconds, or by
 * resetting the partition each time this program lowers it. If the partition is reset, the StatefulSet controller may
 * already have deleted the member, and then recreates it at its old revision.
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
