import { milliseconds } from '../../base/json.ts';
import { mostUnobservedEvictions } from '../../core/rules/not-done.ts';
import { namespaceOfKey } from '../../kube/store.ts';
import { type Cache, namedCluster, ownerKey } from '../../objects/cache.ts';

// Limits the evictions in the whole fleet that Kubernetes' disruption controller has not observed.

/**
 * The evictions in the whole fleet that Kubernetes' disruption controller has not observed yet. They are counted from
 * the PodDisruptionBudgets in the API server, so every leader gets the same count. For a given cluster, each other
 * namespace counts at most once: a tenant who can create budgets and evict pods could otherwise keep any number of
 * evictions unobserved.
 */
export class Evictions {
  readonly #wake: (key: string) => void;
  readonly #unobserved = new Map<string, number>();
  /** The sums by namespace. */
  readonly #inNamespace = new Map<string, number>();
  readonly #reserved = new Set<string>();
  /** The clusters that wait, longest wait first. */
  readonly #waiting = new Set<string>();
  /** Waiting clusters that were woken and have made no decision since then. */
  readonly #woken = new Set<string>();

  constructor(wake: (key: string) => void) {
    this.#wake = wake;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * The count for the whole fleet or, if `asking` is given, the count that this cluster must wait for. A reservation
   * made after the cluster's own does not count.
   */
  unobserved(asking?: string): number {
    if (asking !== undefined) return this.#countedFor(asking, this.#reservedBefore(asking));
    const reserved = [...this.#reserved].filter((key) => !this.#unobserved.has(key)).length;
    return [...this.#inNamespace.values()].reduce((sum, count) => sum + count, reserved);
  }

  #reservedBefore(asking: string): readonly string[] {
    const all = [...this.#reserved];
    const own = all.indexOf(asking);
    return own === -1 ? all : all.slice(0, own);
  }

  /** Each cluster in `promised` counts as one eviction until its budgets show the eviction. */
  #countedFor(asking: string, promised: Iterable<string>): number {
    const own = namespaceOfKey(asking);
    let ofOwn = (this.#inNamespace.get(own) ?? 0) - (this.#unobserved.get(asking) ?? 0);
    const others = new Set<string>();
    for (const key of promised) {
      if (key === asking || this.#unobserved.has(key)) continue;
      const namespace = namespaceOfKey(key);
      if (namespace === own) ofOwn += 1;
      else if (!this.#inNamespace.has(namespace)) others.add(namespace);
    }
    const withBudgets = this.#inNamespace.size - (this.#inNamespace.has(own) ? 1 : 0);
    return ofOwn + others.size + withBudgets;
  }

  /** Records how many evictions of a cluster have not been observed. */
  note(key: string, count: number): void {
    const before = this.#unobserved.get(key) ?? 0;
    setCount(this.#unobserved, key, count);
    const namespace = namespaceOfKey(key);
    setCount(this.#inNamespace, namespace, (this.#inNamespace.get(namespace) ?? 0) + count - before);
    if (count < before) this.#wakeFirst();
  }

  /**
   * Counts an eviction before it is confirmed, so that no other cluster uses the capacity that `decide` has just
   * granted. Returns a function that ends the reservation.
   */
  reserve(key: string): () => void {
    this.#reserved.add(key);
    return () => {
      this.#reserved.delete(key);
      this.#wakeFirst();
    };
  }

  /** Records whether the last decision for the cluster was to wait until evictions in other clusters are observed. */
  setWaiting(key: string, waits: boolean): void {
    this.#woken.delete(key);
    if (waits) this.#waiting.add(key);
    else this.#waiting.delete(key);
  }

  #wakeFirst(): void {
    for (const key of this.#waiting) {
      if (this.#woken.has(key)) continue;
      if (this.#countedFor(key, [...this.#reserved, ...this.#woken]) >= mostUnobservedEvictions) continue;
      this.#woken.add(key);
      this.#wake(key);
    }
  }
}

function setCount(counts: Map<string, number>, key: string, count: number): void {
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/**
 * Counts evictions, using the state of budgets and pods. An eviction counts as unobserved from the moment when the API
 * server adds the pod to `status.disruptedPods`. It stops counting when the disruption controller removes the pod from
 * that list, or when the pod's successor exists. After the successor exists, the controller keeps the entry for two
 * more minutes (Kubernetes 1.36, pkg/controller/disruption, buildDisruptedPodMap: it identifies pods by name).
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
