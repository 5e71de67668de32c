import { isBefore, type Queued } from '../../core/fleet/stage-counts.ts';
import { type FleetPlace, fleetPlace, freeSlots } from '../../core/fleet/waits.ts';

/** What a cluster has to do with slots. */
export interface SlotStanding {
  readonly occupies: boolean;
  /** It occupies one and cannot continue without a person. */
  readonly stalled: boolean;
  /** When it began to need one, on the wall clock in milliseconds; `null` if it occupies or needs none. */
  readonly waitingSince: number | null;
}

/**
 * Who occupies the slots of the fleet, and in which order the others wait: those that have waited longest first, then
 * by name. The order is kept, so that a change or a question is a binary search and not a pass over the fleet.
 */
export class FleetSlots {
  readonly #limit: number;
  readonly #standings = new Map<string, SlotStanding>();
  readonly #order: Queued[] = [];
  #rolling = 0;
  #stalled = 0;

  /** `limit` 0 stands for no limit. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `null` if the cluster does not exist. */
  note(key: string, standing: SlotStanding | null): void {
    const before = this.#standings.get(key);
    if (before !== undefined) this.#count(key, before, -1);
    if (standing === null) this.#standings.delete(key);
    else this.#standings.set(key, standing);
    if (standing !== null) this.#count(key, standing, 1);
  }

  /**
   * Where a cluster that needs a slot since then waits, or `null` if it gets one. A promise to itself keeps none from
   * it. `first` is the cluster that goes first.
   */
  placeOf(key: string, since: number, first?: string): FleetPlace | null {
    const own = this.#standings.get(key);
    return fleetPlace({
      limit: this.#limit,
      rolling: this.#rolling - (own?.occupies ? 1 : 0),
      stalled: this.#stalled - (own?.stalled ? 1 : 0),
      ahead: this.#ahead({ key, since }),
      first,
    });
  }

  /** The clusters that get a slot now, the first in the queue first. */
  next(): readonly string[] {
    return this.#order.slice(0, freeSlots(this.#limit, this.#rolling)).map(({ key }) => key);
  }

  #count(key: string, { occupies, stalled, waitingSince }: SlotStanding, one: 1 | -1): void {
    if (occupies) this.#rolling += one;
    if (stalled) this.#stalled += one;
    if (waitingSince === null) return;
    const waiting = { key, since: waitingSince };
    const index = this.#ahead(waiting);
    if (one === 1) this.#order.splice(index, 0, waiting);
    else this.#order.splice(index, 1);
  }

  /** How many wait before this one. */
  #ahead(waiting: Queued): number {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#order[middle];
      if (other !== undefined && isBefore(other, waiting)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
