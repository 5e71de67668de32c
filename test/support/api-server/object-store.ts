import type { ResourceKind } from '../../../src/kube/resource.ts';
import type { StoredObject } from './stored-object.ts';

/** One write, in the order that all kinds share. */
export interface StoreChange {
  readonly revision: number;
  readonly kind: ResourceKind;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Of deleted objects the last version, with the revision of the deletion. */
  readonly object: StoredObject;
  readonly before: StoredObject | null;
}

interface OneKind {
  readonly objects: Map<string, StoredObject>;
  readonly changes: StoreChange[];
}

/** All objects at their newest version, and every change there was, as etcd has them. */
export class ObjectStore {
  readonly #kinds = new Map<string, OneKind>();
  /** The same, by whichever object names the kind. */
  readonly #named = new WeakMap<ResourceKind, OneKind>();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  #revision = 1000;

  get revision(): number {
    return this.#revision;
  }

  get(kind: ResourceKind, namespace: string, name: string): StoredObject | null {
    return this.#of(kind).objects.get(`${namespace}/${name}`) ?? null;
  }

  all(kind: ResourceKind): readonly StoredObject[] {
    return [...this.#of(kind).objects.values()];
  }

  /** Changes of a kind after a revision of the store. */
  changesAfter(kind: ResourceKind, revision: number): readonly StoreChange[] {
    const { changes } = this.#of(kind);
    let index = changes.length;
    while (index > 0 && (changes[index - 1]?.revision ?? 0) > revision) index -= 1;
    return changes.slice(index);
  }

  /** Puts an object under the next revision, which becomes its resourceVersion. */
  put(kind: ResourceKind, object: StoredObject): StoredObject {
    const { objects, changes } = this.#of(kind);
    const stored = this.#versioned(object);
    const key = keyOf(object);
    const before = objects.get(key) ?? null;
    objects.set(key, stored);
    const change: StoreChange = {
      revision: this.#revision,
      kind,
      type: before === null ? 'ADDED' : 'MODIFIED',
      object: stored,
      before,
    };
    changes.push(change);
    this.#tell(change);
    return stored;
  }

  remove(kind: ResourceKind, object: StoredObject): void {
    const { objects, changes } = this.#of(kind);
    const before = objects.get(keyOf(object)) ?? null;
    if (before === null) return;
    objects.delete(keyOf(object));
    const last = this.#versioned(before);
    const change: StoreChange = { revision: this.#revision, kind, type: 'DELETED', object: last, before };
    changes.push(change);
    this.#tell(change);
  }

  /** Told of every change, right after it. */
  subscribe(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #versioned(object: StoredObject): StoredObject {
    this.#revision += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  #tell(change: StoreChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #of(kind: ResourceKind): OneKind {
    const named = this.#named.get(kind);
    if (named !== undefined) return named;
    const key = `${kind.plural}.${kind.group}`;
    const found = this.#kinds.get(key) ?? { objects: new Map(), changes: [] };
    this.#kinds.set(key, found);
    this.#named.set(kind, found);
    return found;
  }
}

function keyOf({ metadata }: StoredObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
