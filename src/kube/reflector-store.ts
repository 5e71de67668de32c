import { type Json } from '../base/json.ts';
import { quoted } from '../base/text.ts';
import type { DecodeFailureReason } from './list-watch.ts';
import { mostValuesOfObject } from './object-limits.ts';
import { metadataOf, type RawMetadata } from './raw-object.ts';
import { keyOf, type Store, type Stored } from './store.ts';

// The objects that one reflector keeps in a store. A complete list replaces all of them; events change single objects.

export interface OwnedRecordsOptions<R extends Stored> {
  readonly store: Store<R>;
  /** The expected kind; objects of other kinds are skipped. */
  readonly kind: string;
  readonly project: (raw: Json) => R | null;
  /** Called if an object could not be decoded. `null` stands for a subscriber that threw an error. */
  readonly onFailure: (error: unknown, what: string, reason: DecodeFailureReason | null) => void;
}

/** The records of an incomplete list, by key. */
export type Listing<R> = Map<string, R>;

/**
 * The objects that one reflector has put into a store. Several reflectors may share a store. An object that cannot be
 * projected, or that is no longer selected, is removed from the store.
 */
export class ReflectorStore<R extends Stored> {
  readonly #options: OwnedRecordsOptions<R>;
  #records: Listing<R> = new Map();

  constructor(options: OwnedRecordsOptions<R>) {
    this.#options = options;
  }

  /**
   * Replaces all records. If the list lacks an object, the object was deleted. If an object has a different uid, it was
   * deleted and created again.
   */
  replace(listing: Listing<R>): void {
    const before = this.#records;
    this.#records = listing;
    for (const [key, record] of before) if (!listing.has(key)) this.#remove(record, key);
    for (const [key, record] of listing) {
      const known = before.get(key);
      if (known?.uid !== record.uid || known.resourceVersion !== record.resourceVersion) this.#put(record, key);
    }
  }

  /**
   * Projects an object into the listing if there is one, otherwise into the store. Returns whether the object is of the
   * expected kind, even if it is not kept.
   */
  put(raw: unknown, listing: Listing<R> | null): boolean {
    const key = this.#keyOf(raw);
    if (key === null) return false;
    const record = this.#project(raw as Json, key);
    if (record === null) this.#forget(key, listing);
    else if (listing !== null) listing.set(key, record);
    else {
      this.#records.set(key, record);
      this.#put(record, key);
    }
    return true;
  }

  /**
   * Removes an object from the listing if there is one, otherwise from the store. Returns whether the object is of the
   * expected kind. A late deletion event of an earlier object with the same name has no effect.
   */
  remove(raw: Json, listing: Listing<R> | null): boolean {
    const key = this.#keyOf(raw);
    if (key === null) return false;
    if ((listing ?? this.#records).get(key)?.uid === metadataOf(raw)?.uid) this.#forget(key, listing);
    return true;
  }

  /** Removes an object that has become too large to read. */
  skip({ namespace, name }: RawMetadata, listing: Listing<R> | null): void {
    const key = keyOf(namespace, name);
    const error = new RangeError(`expected an object of at most ${mostValuesOfObject} values, got more`);
    this.#options.onFailure(error, key, 'TooLarge');
    this.#forget(key, listing);
  }

  /**
   * The key of an object; `null` if the value is not an object of the expected kind. The items of a list may lack a
   * kind, as they do for Kubernetes' own kinds.
   */
  #keyOf(raw: unknown): string | null {
    const { kind: expected, onFailure } = this.#options;
    const metadata = metadataOf(raw);
    if (metadata === null) {
      const error = new TypeError('expected an object with metadata, got another value');
      onFailure(error, 'an object of a list', 'NotAnObject');
      return null;
    }
    const key = keyOf(metadata.namespace, metadata.name);
    const { kind: came = expected } = raw as Json;
    if (came === expected) return key;
    onFailure(new TypeError(`expected a ${expected}, got ${quoted(came)}`), key, 'AnotherKind');
    return null;
  }

  #project(raw: Json, key: string): R | null {
    try {
      return this.#options.project(raw);
    } catch (error) {
      this.#options.onFailure(error, key, 'NotProjected');
      return null;
    }
  }

  #forget(key: string, listing: Listing<R> | null): void {
    const records = listing ?? this.#records;
    const record = records.get(key);
    records.delete(key);
    if (record !== undefined && listing === null) this.#remove(record, key);
  }

  #put(record: R, key: string): void {
    this.#change(() => this.#options.store.put(record), `${key} everywhere`);
  }

  #remove({ namespace, name }: R, key: string): void {
    this.#change(() => this.#options.store.remove(namespace, name), `the end of ${key} everywhere`);
  }

  #change(change: () => void, what: string): void {
    try {
      change();
    } catch (error) {
      this.#options.onFailure(error, what, null);
    }
  }
}
