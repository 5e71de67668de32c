/** What the fleet's limit has to know of one cluster. */
export interface FleetCluster {
  /** `namespace/name`. */
  readonly key: string;
  /** A rollout of it has begun: members have been taken, or one is away. */
  readonly rolling: boolean;
  /** Its rollout has begun and does not go on without a person: condition `Stalled` is True. */
  readonly stalled: boolean;
  /** Seconds for which it has had due members and no slot; `null` where it wants none. */
  readonly waitingForSeconds: number | null;
}

export interface FleetPlace {
  /** In the queue, counted from 1. */
  readonly place: number;
  /** How many clusters may be rolling. */
  readonly limit: number;
  /** How many of those that are rolling are stalled, so that nobody expects their slots soon. */
  readonly stalled: number;
}

/**
 * Who has to wait, and at which place: a pure function over all clusters, so that it is counted anew from the API's
 * objects every time and never from memory. A rollout that has begun keeps its slot; the rest go by how long they have
 * waited, and by name where that is equal. `limit` 0 means no limit.
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
