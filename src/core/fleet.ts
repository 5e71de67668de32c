/** What the fleet's limit has to know of one cluster. */
export interface FleetCluster {
  /** `namespace/name`. */
  readonly key: string;
  /** A rollout of it has begun: members have been taken, or one is away. */
  readonly rolling: boolean;
  /** Seconds for which it has had due members and no slot; `null` where it wants none. */
  readonly waitingForSeconds: number | null;
}

/** Its place in the queue, counted from 1, and how many may be rolling. */
export interface FleetPlace {
  readonly place: number;
  readonly limit: number;
}

/**
 * Who has to wait, and at which place: a pure function over all clusters, so that it is counted anew from the API's
 * objects every time and never from memory. A rollout that has begun keeps its slot; the rest go by how long they have
 * waited, and by name where that is equal. `limit` 0 means no limit.
 */
export function fleetQueue(clusters: readonly FleetCluster[], limit: number): ReadonlyMap<string, FleetPlace> {
  if (limit <= 0) return new Map();
  const free = Math.max(0, limit - clusters.filter(({ rolling }) => rolling).length);
  const waiting = clusters
    .filter(({ rolling, waitingForSeconds }) => !rolling && waitingForSeconds !== null)
    .toSorted((a, b) => (b.waitingForSeconds ?? 0) - (a.waitingForSeconds ?? 0) || (a.key < b.key ? -1 : 1));
  return new Map(waiting.slice(free).map(({ key }, index) => [key, { place: index + 1, limit }]));
}
