// Stores records by name and by index, and notifies subscribers.

export interface Stored {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The key of a record, which messages also show to people. Neither the namespace nor the name can contain a slash. */
export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

export function splitKey(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

export const namespaceOfKey = (key: string): string => splitKey(key)[0];

/** The key of an object. */
export const nameOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  keyOf(namespace, name);

/** Compares two records by namespace and name, for sorting. */
export const byName = (one: Parameters<typeof nameOf>[0], other: Parameters<typeof nameOf>[0]): number =>
  nameOf(one) < nameOf(other) ? -1 : 1;

/**
 * A change of a record. If an object with a different uid takes over a name, the change is a removal followed by an
 * addition, never an update.
 */
export type Change<R> =
  | { readonly type: 'added'; readonly before: null; readonly after: R }
  | { readonly type: 'updated'; readonly before: R; readonly after: R }
  | { readonly type: 'removed'; readonly before: R; readonly after: null };

/** Returns the key of a record in an index, or `null` to leave the record out. */
export type Index<R> = (record: R) => string | null;

/** The records of one kind, found by name and by index. Subscribers are called after each change. */
export class Store<R extends Stored> {
  readonly #records = new Map<string, R>();
  readonly #indexes: ReadonlyMap<string, { readonly index: Index<R>; readonly buckets: Map<string, Map<string, R>> }>;
  readonly #subscribers = new Set<(change: Change<R>) => void>();

  constructor(indexes: Readonly<Record<string, Index<R>>>) {
    this.#indexes = new Map(Object.entries(indexes).map(([name, index]) => [name, { index, buckets: new Map() }]));
  }

  get size(): number {
    return this.#records.size;
  }

  get(namespace: string, name: string): R | undefined {
    return this.#records.get(keyOf(namespace, name));
  }

  values(): readonly R[] {
    return [...this.#records.values()];
  }

  /** Throws `TypeError` for an unknown index. */
  by(indexName: string, key: string): readonly R[] {
    const found = this.#indexes.get(indexName);
    if (!found) {
      const known = [...this.#indexes.keys()].join(', ') || 'none';
      throw new TypeError(`expected one of the indexes ${known}, got ${indexName}`);
    }
    return [...(found.buckets.get(key)?.values() ?? [])];
  }

  /** Returns a function that unsubscribes. */
  subscribe(subscriber: (change: Change<R>) => void): () => void {
    const own = (change: Change<R>): void => subscriber(change);
    this.#subscribers.add(own);
    return () => this.#subscribers.delete(own);
  }

  /**
   * Stores the record and calls all subscribers. If some subscribers throw, the function throws their errors at the
   * end.
   */
  put(record: R): void {
    const key = keyOf(record.namespace, record.name);
    const known = this.#records.get(key);
    const before = known?.uid === record.uid ? known : null;
    const failures = known && !before ? this.#remove(key, known) : [];
    if (before) this.#unindex(key, before);
    this.#insert(key, record);
    const change = before ? ({ type: 'updated', before } as const) : ({ type: 'added', before: null } as const);
    throwAll([...failures, ...this.#tell({ ...change, after: record })]);
  }

  /** Removes the record. Does nothing if there is no such record. Throws as `put` does. */
  remove(namespace: string, name: string): void {
    const key = keyOf(namespace, name);
    const before = this.#records.get(key);
    if (before) throwAll(this.#remove(key, before));
  }

  #remove(key: string, before: R): readonly unknown[] {
    this.#records.delete(key);
    this.#unindex(key, before);
    return this.#tell({ type: 'removed', before, after: null });
  }

  #insert(key: string, record: R): void {
    this.#records.set(key, record);
    for (const { index, buckets } of this.#indexes.values()) {
      const value = index(record);
      if (value === null) continue;
      const bucket = buckets.get(value);
      if (bucket) bucket.set(key, record);
      else buckets.set(value, new Map([[key, record]]));
    }
  }

  #unindex(key: string, record: R): void {
    for (const { index, buckets } of this.#indexes.values()) {
      const value = index(record);
      if (value === null) continue;
      const bucket = buckets.get(value);
      bucket?.delete(key);
      if (bucket?.size === 0) buckets.delete(value);
    }
  }

  #tell(change: Change<R>): readonly unknown[] {
    const failures: unknown[] = [];
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(change);
      } catch (error) {
        failures.push(error);
      }
    }
    return failures;
  }
}

function throwAll(failures: readonly unknown[]): void {
  if (failures.length > 0) throw new AggregateError(failures, 'expected subscribers of a store not to throw');
}
