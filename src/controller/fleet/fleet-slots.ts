import { isBefore, type Queued } from '../../core/fleet/stage-counts.ts';
import { type FleetPlace, fleetPlace, freeSlots, type StuckCluster } from '../../core/fleet/waits.ts';
import { namespaceOfKey } from '../../kube/store.ts';
import type { NamespaceShare } from '../facts/policy-layers.ts';

// Which clusters occupy the slots of the fleet, and the queue of those that wait.

export interface SlotStanding {
  readonly occupies: boolean;
  /**
   * If the cluster occupies a slot and cannot continue until a person acts: the rule that holds it. Otherwise `null`.
   */
  readonly stuckBy: string | null;
  /**
   * Since when the cluster has needed a slot, on the wall clock in milliseconds. `null` if the cluster occupies a slot
   * or needs none.
   */
  readonly waitingSince: number | null;
}

const none: SlotStanding = { occupies: false, stuckBy: null, waitingSince: null };

interface Counted {
  readonly rolling: number;
  /** The stuck clusters, sorted by name. */
  readonly stuck: readonly StuckCluster[];
  /** The waiting clusters: longest wait first, then by name. */
  readonly queue: readonly Queued[];
  /** How many clusters of each namespace are rolling out. */
  readonly rollingIn: ReadonlyMap<string, number>;
  /** Clusters in the queue from namespaces that may occupy another slot. */
  readonly eligible: readonly Queued[];
}

/** The limits on slots. */
export interface SlotLimits {
  /** 0 means no limit. */
  readonly slots: number;
  /**
   * The percentage of the slots that the clusters of one namespace may occupy while other namespaces have clusters as
   * well. A policy may set a different share.
   */
  readonly namespaceShare: number;
}

const shareFlag = '--max-namespace-share';

/**
 * Which clusters occupy the slots of the fleet, and in which order the others wait. Computed again after each change.
 * One namespace may occupy only a share of the slots, because its clusters could stall and keep their slots until a
 * person acts.
 */
export class FleetSlots {
  readonly #limit: number;
  readonly #namespaceShare: number;
  readonly #wake: (key: string) => void;
  readonly #standings = new Map<string, SlotStanding>();
  /** How many clusters each namespace has. */
  readonly #namespaces = new Map<string, number>();
  #shareOf: (namespace: string) => NamespaceShare | null = () => null;
  /** The shares of namespaces with clusters. Each is looked up once, until the policies change. */
  readonly #shares = new Map<string, NamespaceShare>();
  #counted: Counted | null = null;

  /** `wake` is called with each cluster that may get a slot now, or whose message changes. */
  constructor({ slots, namespaceShare }: SlotLimits, wake: (key: string) => void) {
    this.#limit = slots;
    this.#namespaceShare = namespaceShare;
    this.#wake = wake;
  }

  /** Records a cluster; `null` if it does not exist. */
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
      // Waiting clusters name the stuck clusters in their messages, so a change of the stuck clusters makes the waiting
      // ones decide again.
      for (const { key: waiting } of this.#count().queue) this.#wake(waiting);
    }
  }

  /**
   * `shareOf` returns the share that a policy sets for a namespace. Call this method again when those shares change.
   */
  setShares(shareOf: (namespace: string) => NamespaceShare | null): void {
    this.#shareOf = shareOf;
    this.#shares.clear();
    this.#counted = null;
    if (this.#limit > 0) for (const { key } of this.#count().queue) this.#wake(key);
  }

  /**
   * The place in the queue of a cluster that has needed a slot since `since`, or `null` if the cluster gets a slot. A
   * reservation of the cluster itself does not count. `first` is the cluster that must verify the revision first.
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

  /** Whether several namespaces have clusters. */
  get #isShared(): boolean {
    return this.#namespaces.size > 1;
  }

  /** How many slots one namespace may occupy. If the slots are unlimited, shares do not apply. */
  #limitOf(namespace: string): number {
    if (!this.#isShared) return this.#limit;
    return Math.max(1, Math.ceil((this.#limit * this.#share(namespace).percent) / 100));
  }

  #share(namespace: string): NamespaceShare {
    const known = this.#shares.get(namespace);
    if (known !== undefined) return known;
    const share = this.#shareOf(namespace) ?? { percent: this.#namespaceShare, source: shareFlag };
    // `note` forgets the share when the last cluster of the namespace is gone. A pass may still be deciding about that
    // cluster.
    if (this.#namespaces.has(namespace)) this.#shares.set(namespace, share);
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

  /** How many slots are occupied by clusters that cannot continue until a person acts. */
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
