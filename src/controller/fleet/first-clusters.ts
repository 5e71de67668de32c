import { namespaceOfKey } from '../../kube/store.ts';

// Clusters that roll out a revision that no member has verified yet. Other clusters may have to wait for them.

/** How long clusters of other namespaces may have to wait for the clusters of one namespace. */
const mostKeptMilliseconds = 3_600_000;
/**
 * The time limit starts over only after the namespace has had no such cluster for this long. Meanwhile, clusters of
 * other namespaces are woken and take their turn.
 */
const pauseMilliseconds = 60_000;

interface Namespace {
  readonly clusters: number;
  /** When the first of these clusters began its rollout, on the wall clock. */
  readonly since: number;
  /** When the last of these clusters ended its rollout; `null` while at least one has not. */
  readonly endedAt: number | null;
}

/**
 * The clusters in the order in which they began. A tenant could keep a rollout unverified for a day with long
 * deadlines, or forever by changing the template again and again. So the time is limited for each namespace. A new
 * leader starts to count at zero.
 */
export class FirstClusters {
  readonly #wall: () => number;
  readonly #keys = new Set<string>();
  readonly #namespaces = new Map<string, Namespace>();

  /** @param wall the time in milliseconds since 1970 */
  constructor(wall: () => number) {
    this.#wall = wall;
  }

  keys(): Iterable<string> {
    return this.#keys;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const now = this.#wall();
    for (const [name, { endedAt }] of this.#namespaces)
      if (endedAt !== null && now - endedAt >= pauseMilliseconds) this.#namespaces.delete(name);
    const name = namespaceOfKey(key);
    const { clusters, since } = this.#namespaces.get(name) ?? { clusters: 0, since: now };
    this.#namespaces.set(name, { clusters: clusters + 1, since, endedAt: null });
  }

  /** Returns whether the cluster was in the list. */
  delete(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    const name = namespaceOfKey(key);
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined) return true;
    const clusters = namespace.clusters - 1;
    this.#namespaces.set(name, { ...namespace, clusters, endedAt: clusters === 0 ? this.#wall() : null });
    return true;
  }

  /** How much longer the cluster may keep clusters of other namespaces waiting. */
  remainingSeconds(key: string): number {
    const since = this.#namespaces.get(namespaceOfKey(key))?.since ?? this.#wall();
    return Math.max(0, (since + mostKeptMilliseconds - this.#wall()) / 1000);
  }
}
