/** What the fleet's limit needs to know about one cluster. */
export interface FleetCluster {
  /** `namespace/name`. */
  readonly key: string;
  /** A rollout of it has begun: members have been taken, or one is unavailable. */
  readonly rolling: boolean;
  /** Its rollout has begun and cannot continue without a person: condition `Stalled` is True. */
  readonly stalled: boolean;
  /** Seconds for which it has had due members and no slot. `null` if it needs no slot. */
  readonly waitingForSeconds: number | null;
}

export interface FleetPlace {
  /** In the queue, counted from 1. */
  readonly place: number;
  /** How many clusters may be rolling. */
  readonly limit: number;
  /** How many of the rolling clusters are stalled. Their slots will not be free soon. */
  readonly stalled: number;
}

/**
 * Which clusters have to wait, and at which place. A pure function over all clusters: it counts from the objects of the
 * API every time, never from memory. A rollout that has begun keeps its slot. The others are ordered by how long they
 * have waited, then by name. `limit` 0 means no limit.
 */
export function fleetQueue(clusters: readonly FleetCluster[], limit: number): ReadonlyMap<string, FleetPlace> {
  if (limit <= 0) return new Map();
  const begun = clusters.filter(({ rolling }) => rolling);
  const free = Math.max(0, limit - begun.length);
  const stalled = begun.filter((one) => one.stalled).length;
  const waiting = clusters
    .flatMap(({ key, rolling, waitingForSeconds: seconds }) => (rolling || seconds === null ? [] : [{ key, seconds }]))
    .toSorted((a, b) => b.seconds - a.seconds || (a.key < b.key ? -1 : 1));
  return new Map(waiting.slice(free).map(({ key }, index) => [key, { place: index + 1, limit, stalled }]));
}
