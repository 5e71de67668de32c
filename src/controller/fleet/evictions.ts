import { milliseconds } from '../../base/json.ts';
import { mostUnobservedEvictions } from '../../core/rules/not-done.ts';
import { type Cache, namedCluster, ownerKey } from '../../objects/cache.ts';

// The limit of evictions that Kubernetes' disruption controller has not observed, in the whole fleet.

/**
 * Evictions of the whole fleet that Kubernetes' disruption controller has not observed yet. They are counted from the
 * PodDisruptionBudgets in the API server, so another leader counts the same.
 */
export class Evictions {
  readonly #wake: (key: string) => void;
  readonly #unobserved = new Map<string, number>();
  readonly #reserved = new Set<string>();
  /** Waiting clusters, longest wait first. */
  readonly #waiting = new Set<string>();
  /** Those of them that were woken and have not decided since. */
  readonly #woken = new Set<string>();

  constructor(wake: (key: string) => void) {
    this.#wake = wake;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** In all clusters, or in all but one. For that cluster, later reservations than its own do not count. */
  unobserved(except?: string): number {
    let sum = 0;
    for (const [key, count] of this.#unobserved) if (key !== except) sum += count;
    for (const key of this.#reserved) {
      if (key === except) break;
      if (!this.#unobserved.has(key)) sum += 1;
    }
    return sum;
  }

  /** How many evictions of a cluster have not been observed. */
  note(key: string, count: number): void {
    const before = this.#unobserved.get(key) ?? 0;
    if (count === 0) this.#unobserved.delete(key);
    else this.#unobserved.set(key, count);
    if (count < before) this.#wakeFirst();
  }

  /**
   * Counts an eviction before it is confirmed: what `decide` has just allowed one cluster is not allowed to another.
   * Returns a function that ends the reservation.
   */
  reserve(key: string): () => void {
    this.#reserved.add(key);
    return () => {
      this.#reserved.delete(key);
      this.#wakeFirst();
    };
  }

  /** Whether the cluster's last decision waits for evictions of others. */
  setWaiting(key: string, waits: boolean): void {
    this.#woken.delete(key);
    if (waits) this.#waiting.add(key);
    else this.#waiting.delete(key);
  }

  #wakeFirst(): void {
    let free = mostUnobservedEvictions - this.unobserved() - this.#woken.size;
    for (const key of this.#waiting) {
      if (free <= 0) return;
      if (this.#woken.has(key)) continue;
      free -= 1;
      this.#woken.add(key);
      this.#wake(key);
    }
  }
}

/**
 * An eviction counts from the API server's answer, which adds the pod to `status.disruptedPods`, until the disruption
 * controller removes it from there or the pod's successor exists. Once there is a successor, the controller keeps the
 * entry for two minutes (Kubernetes 1.36, pkg/controller/disruption, buildDisruptedPodMap: it identifies pods by name).
 */
export function followEvictions({ budgets, pods }: Pick<Cache, 'budgets' | 'pods'>, evictions: Evictions): void {
  const count = (key: string): void => {
    const entries = budgets
      .by('cluster', key)
      .flatMap(({ namespace, disruptedPods }) =>
        Object.entries(disruptedPods).map(([name, at]) => ({ at, pod: pods.get(namespace, name) })),
      );
    const unobserved = entries.filter(({ at, pod }) => pod === undefined || isEarlier(pod.createdAt, at));
    evictions.note(key, unobserved.length);
  };
  budgets.subscribe(({ before, after }) => {
    for (const budget of [before, after]) {
      const key = budget && namedCluster(budget);
      if (key !== null) count(key);
    }
  });
  pods.subscribe(({ before, after }) => {
    const pod = after ?? before;
    if (pod !== null && before?.uid !== after?.uid) count(ownerKey(pod));
  });
}

const isEarlier = (one: string, other: string): boolean => (milliseconds(one) ?? 0) < (milliseconds(other) ?? 0);
