/** What the fleet's limit needs to know about the clusters other than the one that asks for a slot. */
export interface FleetCounts {
  /** How many clusters may be rolling; 0 for no limit. */
  readonly limit: number;
  /** How many are rolling: members have been taken, or one is unavailable. They keep their slots. */
  readonly rolling: number;
  /** How many of these cannot continue without a person: condition `Stalled` is True. */
  readonly stalled: number;
  /** How many of the others have needed a slot for longer. */
  readonly ahead: number;
  /** The cluster, as `namespace/name`, that goes first: none else begins until a member of it has verified its revision. */
  readonly first?: string | undefined;
}

export interface FleetPlace {
  /** In the queue, counted from 1. */
  readonly place: number;
  /** How many clusters may be rolling. */
  readonly limit: number;
  /** How many of the rolling clusters are stalled. Their slots will not be free soon. */
  readonly stalled: number;
  /** The cluster that goes first, as `namespace/name`, if it alone may be rolling. */
  readonly first?: string;
}

/** Where a cluster waits for a slot; `null` if it gets one. */
export function fleetPlace({ limit, rolling, stalled, ahead, first }: FleetCounts): FleetPlace | null {
  if (first !== undefined) return { place: ahead + 1, limit: 1, stalled, first };
  const place = ahead + 1 - freeSlots(limit, rolling);
  return limit > 0 && place > 0 ? { place, limit, stalled } : null;
}

/** More may be rolling than the limit says, if it has been lowered. */
export const freeSlots = (limit: number, rolling: number): number => Math.max(0, limit - rolling);
