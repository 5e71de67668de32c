import { isBefore, type Queued } from '../../core/fleet/stage-counts.ts';
import { type FleetPlace, fleetPlace, freeSlots, type StuckCluster } from '../../core/fleet/waits.ts';

export interface SlotStanding {
  readonly occupies: boolean;
  /** It occupies one and may not continue until a person acts: the rule that holds it. Otherwise `null`. */
  readonly stuckBy: string | null;
  /** When it began to need one, on the wall clock in milliseconds; `null` if it occupies or needs none. */
  readonly waitingSince: number | null;
}

const none: SlotStanding = { occupies: false, stuckBy: null, waitingSince: null };

interface Counted {
  readonly rolling: number;
  /** By name. */
  readonly stuck: readonly StuckCluster[];
  /** Those that have waited longest first, then by name. */
  readonly queue: readonly Queued[];
}

/** Who occupies the slots of the fleet, and in which order the others wait. Counted anew after a change. */
export class FleetSlots {
  readonly #limit: number;
  readonly #wake: (key: string) => void;
  readonly #standings = new Map<string, SlotStanding>();
  #counted: Counted | null = null;

  /** `limit` 0 stands for no limit. `wake` is called with each cluster that may get a slot now, or has to say more. */
  constructor(limit: number, wake: (key: string) => void) {
    this.#limit = limit;
    this.#wake = wake;
  }

  /** `null` if the cluster does not exist. */
  note(key: string, standing: SlotStanding | null): void {
    const before = this.#standings.get(key) ?? none;
    const now = standing ?? none;
    if (standing === null) this.#standings.delete(key);
    else this.#standings.set(key, standing);
    this.#counted = null;
    const hasLeft = before.waitingSince !== null && now.waitingSince === null;
    if (!now.occupies && (before.occupies || hasLeft)) for (const next of this.next()) this.#wake(next);
    if (this.#limit > 0 && before.stuckBy !== now.stuckBy) {
      // The message of those that wait names the clusters.
      for (const { key: waiting } of this.#count().queue) this.#wake(waiting);
    }
  }

  /**
   * Where a cluster that needs a slot since then waits, or `null` if it gets one. A promise to itself keeps none from
   * it. `first` is the cluster that goes first.
   */
  placeOf(key: string, since: number, first?: string): FleetPlace | null {
    const own = this.#standings.get(key);
    const { rolling, stuck, queue } = this.#count();
    return fleetPlace({
      limit: this.#limit,
      rolling: rolling - (own?.occupies ? 1 : 0),
      stuck: stuck.filter(({ cluster }) => cluster !== key),
      ahead: queue.filter((other) => isBefore(other, { key, since })).length,
      first,
    });
  }

  /** How many slots clusters occupy that may not continue until a person acts. */
  get stuck(): number {
    return this.#count().stuck.length;
  }

  /** The clusters that get a slot now, the first in the queue first. */
  next(): readonly string[] {
    const { rolling, queue } = this.#count();
    return queue.slice(0, freeSlots(this.#limit, rolling)).map(({ key }) => key);
  }

  #count(): Counted {
    if (this.#counted !== null) return this.#counted;
    const standings = [...this.#standings.values()];
    const waiting = [...this.#standings].flatMap(([key, { waitingSince: since }]) =>
      since === null ? [] : [{ key, since }],
    );
    this.#counted = {
      rolling: standings.filter(({ occupies }) => occupies).length,
      stuck: [...this.#standings]
        .flatMap(([cluster, { stuckBy: rule }]) => (rule === null ? [] : [{ cluster, rule }]))
        .toSorted((one, other) => (one.cluster < other.cluster ? -1 : 1)),
      queue: waiting.toSorted((one, other) => (isBefore(one, other) ? -1 : 1)),
    };
    return this.#counted;
  }
}
