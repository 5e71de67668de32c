import { isBefore, type Queued } from '../../core/fleet/stage-counts.ts';
import { type FleetPlace, fleetPlace, freeSlots, type StuckCluster } from '../../core/fleet/waits.ts';
import { namespaceOfKey } from '../../kube/store.ts';
import type { NamespaceShare } from '../facts/policy-layers.ts';

// Which clusters hold the slots of the fleet, and the queue of the others.

export interface SlotStanding {
  readonly occupies: boolean;
  /** The rule that holds a cluster which occupies a slot and cannot continue until a person acts. Otherwise `null`. */
  readonly stuckBy: string | null;
  /** When it began to need a slot, on the wall clock in milliseconds; `null` if it occupies one or needs none. */
  readonly waitingSince: number | null;
}

const none: SlotStanding = { occupies: false, stuckBy: null, waitingSince: null };

interface Counted {
  readonly rolling: number;
  /** By name. */
  readonly stuck: readonly StuckCluster[];
  /** Longest wait first, then by name. */
  readonly queue: readonly Queued[];
  /** How many clusters of each namespace are rolling. */
  readonly rollingIn: ReadonlyMap<string, number>;
  /** Clusters in the queue whose namespace has a slot for them. */
  readonly eligible: readonly Queued[];
}

/** How the number of slots is limited. */
export interface SlotLimits {
  /** 0 stands for no limit. */
  readonly slots: number;
  /**
   * The percentage of them that the clusters of one namespace may hold while other namespaces have clusters as well,
   * unless a policy says otherwise.
   */
  readonly namespaceShare: number;
}

const shareFlag = '--max-namespace-share';

/**
 * Who occupies the slots of the fleet, and in which order the others wait. Computed again after each change. One
 * namespace holds at most a share of the slots: its clusters may stall, and then keep their slots until a person has
 * fixed them.
 */
export class FleetSlots {
  readonly #limit: number;
  readonly #namespaceShare: number;
  readonly #wake: (key: string) => void;
  readonly #standings = new Map<string, SlotStanding>();
  /** How many clusters each namespace has. */
  readonly #namespaces = new Map<string, number>();
  #shareOf: (namespace: string) => NamespaceShare | null = () => null;
  /** By namespace. Asked once for each, until the policies change. */
  readonly #shares = new Map<string, NamespaceShare>();
  #counted: Counted | null = null;

  /** `wake` is called with each cluster that may get a slot now, or whose message changes. */
  constructor({ slots, namespaceShare }: SlotLimits, wake: (key: string) => void) {
    this.#limit = slots;
    this.#namespaceShare = namespaceShare;
    this.#wake = wake;
  }

  /** `null` if the cluster does not exist. */
  note(key: string, standing: SlotStanding | null): void {
    const before = this.#standings.get(key) ?? none;
    const now = standing ?? none;
    const wereShared = this.#isShared;
    this.#countNamespace(key, standing !== null);
    if (standing === null) this.#standings.delete(key);
    else this.#standings.set(key, standing);
    this.#counted = null;
    if (wereShared && !this.#isShared) for (const next of this.next()) this.#wake(next);
    const hasLeft = before.waitingSince !== null && now.waitingSince === null;
    if (!now.occupies && (before.occupies || hasLeft)) for (const next of this.next()) this.#wake(next);
    if (this.#limit > 0 && before.stuckBy !== now.stuckBy) {
      // The message of a waiting cluster names the clusters that occupy slots.
      for (const { key: waiting } of this.#count().queue) this.#wake(waiting);
    }
  }

  /** `shareOf` has the share that a policy sets for a namespace. Called again after each change of what it returns. */
  setShares(shareOf: (namespace: string) => NamespaceShare | null): void {
    this.#shareOf = shareOf;
    this.#shares.clear();
    this.#counted = null;
    if (this.#limit > 0) for (const { key } of this.#count().queue) this.#wake(key);
  }

  /**
   * Where a cluster that has needed a slot since `since` waits, or `null` if it gets one. Its own reservation does not
   * count against it. `first` is the cluster that goes first.
   */
  placeOf(key: string, since: number, first?: string): FleetPlace | null {
    const own = this.#standings.get(key);
    const { rolling, stuck, queue, eligible, rollingIn } = this.#count();
    const ownRolling = own?.occupies ? 1 : 0;
    const others = stuck.filter(({ cluster }) => cluster !== key);
    const isAhead = (other: Queued): boolean => isBefore(other, { key, since });
    const namespace = namespaceOfKey(key);
    const inNamespace =
      first === undefined && this.#limitOf(namespace) < this.#limit
        ? fleetPlace({
            limit: this.#limitOf(namespace),
            rolling: (rollingIn.get(namespace) ?? 0) - ownRolling,
            stuck: others.filter(({ cluster }) => namespaceOfKey(cluster) === namespace),
            ahead: queue.filter((other) => isAhead(other) && namespaceOfKey(other.key) === namespace).length,
          })
        : null;
    if (inNamespace !== null) return { ...inNamespace, namespace, limitedBy: this.#share(namespace).source };
    return fleetPlace({
      limit: this.#limit,
      rolling: rolling - ownRolling,
      stuck: others,
      ahead: (first === undefined ? eligible : queue).filter(isAhead).length,
      first,
    });
  }

  /** Several namespaces have clusters. */
  get #isShared(): boolean {
    return this.#namespaces.size > 1;
  }

  /** How many slots one namespace may have. Without a limit there are no shares. */
  #limitOf(namespace: string): number {
    if (!this.#isShared) return this.#limit;
    return Math.max(1, Math.ceil((this.#limit * this.#share(namespace).percent) / 100));
  }

  #share(namespace: string): NamespaceShare {
    const known = this.#shares.get(namespace);
    if (known !== undefined) return known;
    const share = this.#shareOf(namespace) ?? { percent: this.#namespaceShare, source: shareFlag };
    this.#shares.set(namespace, share);
    return share;
  }

  #countNamespace(key: string, isThere: boolean): void {
    if (this.#standings.has(key) === isThere) return;
    const namespace = namespaceOfKey(key);
    const clusters = (this.#namespaces.get(namespace) ?? 0) + (isThere ? 1 : -1);
    if (clusters > 0) this.#namespaces.set(namespace, clusters);
    else {
      this.#namespaces.delete(namespace);
      this.#shares.delete(namespace);
    }
  }

  /** How many slots belong to clusters that cannot continue until a person acts. */
  get stuck(): number {
    return this.#count().stuck.length;
  }

  /** The clusters that get a slot now, in the order of the queue. */
  next(): readonly string[] {
    const { rolling, eligible } = this.#count();
    return eligible.slice(0, freeSlots(this.#limit, rolling)).map(({ key }) => key);
  }

  #count(): Counted {
    if (this.#counted !== null) return this.#counted;
    const standings = [...this.#standings.values()];
    const waiting = [...this.#standings].flatMap(([key, { waitingSince: since }]) =>
      since === null ? [] : [{ key, since }],
    );
    const queue = waiting.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
    const rollingIn = this.#rollingIn();
    this.#counted = {
      rolling: standings.filter(({ occupies }) => occupies).length,
      stuck: [...this.#standings]
        .flatMap(([cluster, { stuckBy: rule }]) => (rule === null ? [] : [{ cluster, rule }]))
        .toSorted((one, other) => (one.cluster < other.cluster ? -1 : 1)),
      queue,
      rollingIn,
      eligible: this.#eligible(queue, rollingIn),
    };
    return this.#counted;
  }

  #rollingIn(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [key, { occupies }] of this.#standings) {
      if (occupies) counts.set(namespaceOfKey(key), (counts.get(namespaceOfKey(key)) ?? 0) + 1);
    }
    return counts;
  }

  #eligible(queue: readonly Queued[], rollingIn: ReadonlyMap<string, number>): readonly Queued[] {
    const taken = new Map(rollingIn);
    return queue.filter(({ key }) => {
      const before = taken.get(namespaceOfKey(key)) ?? 0;
      const most = this.#limitOf(namespaceOfKey(key));
      const hasSlot = most >= this.#limit || before < most;
      if (hasSlot) taken.set(namespaceOfKey(key), before + 1);
      return hasSlot;
    });
  }
}
