import { namespaceOfKey } from '../../kube/store.ts';

// Which clusters roll to a revision that no member has verified yet, and so may keep others waiting.

/** For how long the clusters of one namespace keep those of other namespaces waiting. */
const mostKeptMilliseconds = 3_600_000;
/** A shorter pause does not begin that time again: clusters of others are woken in it, and take their turn. */
const pauseMilliseconds = 60_000;

interface Namespace {
  readonly clusters: number;
  /** On the wall clock. */
  readonly since: number;
  /** When its last one ended; `null` while there is one. */
  readonly endedAt: number | null;
}

/**
 * The clusters in the order in which they began. A tenant can keep a rollout unverified for a day by long deadlines,
 * and for good by one change of a template after another: so the time of each namespace is limited. Another leader
 * begins to count it again.
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

  /** Returns whether the cluster was one of them. */
  delete(key: string): boolean {
    if (!this.#keys.delete(key)) return false;
    const name = namespaceOfKey(key);
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined) return true;
    const clusters = namespace.clusters - 1;
    this.#namespaces.set(name, { ...namespace, clusters, endedAt: clusters === 0 ? this.#wall() : null });
    return true;
  }

  /** For how long it may keep clusters of other namespaces waiting. */
  remainingSeconds(key: string): number {
    const since = this.#namespaces.get(namespaceOfKey(key))?.since ?? this.#wall();
    return Math.max(0, (since + mostKeptMilliseconds - this.#wall()) / 1000);
  }
}
