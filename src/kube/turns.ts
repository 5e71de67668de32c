/**
 * Waiting keys in the order of their turns. Tenants take turns, and the keys of one tenant stay in order. So a tenant
 * with a thousand keys delays a key of another tenant by one turn only.
 */
export class Turns {
  readonly #tenantOf: (key: string) => string;
  /** The keys of each tenant. The tenant that is next comes first. */
  readonly #waiting = new Map<string, Set<string>>();
  #size = 0;

  constructor(tenantOf: (key: string) => string) {
    this.#tenantOf = tenantOf;
  }

  get size(): number {
    return this.#size;
  }

  add(key: string): void {
    const tenant = this.#tenantOf(key);
    const keys = this.#waiting.get(tenant) ?? new Set();
    if (keys.has(key)) return;
    this.#waiting.set(tenant, keys.add(key));
    this.#size += 1;
  }

  /**
   * Removes and returns the next key of a tenant for which `mayHaveMore` returns true. Returns `null` if there is none.
   */
  next(mayHaveMore: (tenant: string) => boolean): string | null {
    for (const [tenant, keys] of this.#waiting) {
      if (!mayHaveMore(tenant)) continue;
      const [key] = keys;
      if (key === undefined) continue;
      keys.delete(key);
      this.#size -= 1;
      // The tenant moves to the end of the order.
      this.#waiting.delete(tenant);
      if (keys.size > 0) this.#waiting.set(tenant, keys);
      return key;
    }
    return null;
  }

  clear(): void {
    this.#waiting.clear();
    this.#size = 0;
  }
}
