import { type Json } from '../base/json.ts';
import { quoted } from '../base/text.ts';
import { type DecodeFailureReason, mostValuesOfObject } from './list-watch.ts';
import { metadataOf, type RawMetadata } from './raw-object.ts';
import { keyOf, type Store, type Stored } from './store.ts';

// The objects of one reflector in a store: a complete list replaces them, events change them.

export interface OwnedRecordsOptions<R extends Stored> {
  readonly store: Store<R>;
  /** Objects of another kind are skipped. */
  readonly kind: string;
  readonly project: (raw: Json) => R | null;
  /** Called for an object that could not be decoded, or with `null` when a subscriber threw. */
  readonly onFailure: (error: unknown, what: string, reason: DecodeFailureReason | null) => void;
}

/** The records of an incomplete list, by their keys. */
export type Listing<R> = Map<string, R>;

/**
 * The objects that one reflector has put into a store, which several may share. An object that can't be projected, or
 * is no longer selected, leaves the store.
 */
export class ReflectorStore<R extends Stored> {
  readonly #options: OwnedRecordsOptions<R>;
  #records: Listing<R> = new Map();

  constructor(options: OwnedRecordsOptions<R>) {
    this.#options = options;
  }

  /** Replaces everything: a missing object was deleted, one with another uid was deleted and created again. */
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
   * Projects an object into the listing if there is one, otherwise into the store. Returns whether it is an object of
   * this kind, wanted or not.
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

  /** Like `put`. A late deletion event of an earlier object of the same name changes nothing. */
  remove(raw: Json, listing: Listing<R> | null): boolean {
    const key = this.#keyOf(raw);
    if (key === null) return false;
    if ((listing ?? this.#records).get(key)?.uid === metadataOf(raw)?.uid) this.#forget(key, listing);
    return true;
  }

  /** Forgets an object that has become too large to be read. */
  skip({ namespace, name }: RawMetadata, listing: Listing<R> | null): void {
    const key = keyOf(namespace, name);
    const error = new RangeError(`expected an object of at most ${mostValuesOfObject} values, got more`);
    this.#options.onFailure(error, key, 'TooLarge');
    this.#forget(key, listing);
  }

  /** `null` if it is not an object of this kind. Items of a list need not have a kind; Kubernetes' own have none. */
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
