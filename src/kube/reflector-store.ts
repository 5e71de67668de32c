import type { DecodeFailureReason } from './list-watch.ts';
import { type Json, metadataOf } from './raw-object.ts';
import { keyOf, type Store, type Stored } from './store.ts';
import { quoted } from './text.ts';

export interface OwnedRecordsOptions<R extends Stored> {
  readonly store: Store<R>;
  /** Objects of another kind are skipped; without it any kind is accepted. */
  readonly kind?: string;
  readonly project: (raw: Json) => R | null;
  /** Called for an object that could not be decoded, or, with `null`, when a subscriber threw. */
  readonly onFailure: (error: unknown, what: string, reason: DecodeFailureReason | null) => void;
}

/**
 * The objects that one reflector has put into a store, which others may share. An object that can't be projected, or
 * isn't selected any more, leaves the store.
 */
export class ReflectorStore<R extends Stored> {
  readonly #options: OwnedRecordsOptions<R>;
  #records = new Map<string, R>();

  constructor(options: OwnedRecordsOptions<R>) {
    this.#options = options;
  }

  /** Projects an object of a list into `listing`, for `replace`. */
  read(raw: unknown, listing: Map<string, R>): void {
    const key = keyOfRaw(raw);
    if (key === null) {
      const error = new TypeError('expected an object with metadata, got another value');
      this.#options.onFailure(error, 'an object of a list', 'NotAnObject');
      return;
    }
    if (!this.#isOfKind(raw as Json, key)) return;
    const record = this.#project(raw as Json, key);
    if (record) listing.set(key, record);
    else listing.delete(key);
  }

  /** The object was deleted while `listing` was being read. */
  leaveOut(raw: Json, listing: Map<string, R>): void {
    const key = keyOfRaw(raw);
    if (key !== null && listing.get(key)?.uid === metadataOf(raw)?.uid) listing.delete(key);
  }

  /** Replaces everything: a missing object was deleted, one with another uid was deleted and created again. */
  replace(listing: Map<string, R>): void {
    const before = this.#records;
    this.#records = listing;
    for (const [key, record] of before) if (!listing.has(key)) this.#remove(record, key);
    for (const [key, record] of listing) {
      const known = before.get(key);
      if (known?.uid !== record.uid || known.resourceVersion !== record.resourceVersion) this.#put(record, key);
    }
  }

  /** Returns whether it is an object of this kind, wanted or not. */
  put(raw: Json): boolean {
    const key = keyOfRaw(raw);
    if (key === null || !this.#isOfKind(raw, key)) return false;
    const record = this.#project(raw, key);
    if (record === null) {
      this.#forget(key);
      return true;
    }
    this.#records.set(key, record);
    this.#put(record, key);
    return true;
  }

  /** Like `put`. A late deletion event of an earlier object of the same name changes nothing. */
  remove(raw: Json): boolean {
    const key = keyOfRaw(raw);
    if (key === null || !this.#isOfKind(raw, key)) return false;
    if (this.#records.get(key)?.uid === metadataOf(raw)?.uid) this.#forget(key);
    return true;
  }

  /** Items of a list need not have a kind, and those of Kubernetes' own kinds don't. */
  #isOfKind({ kind: came }: Json, key: string): boolean {
    const { kind: expected, onFailure } = this.#options;
    if (expected === undefined || came === undefined || came === expected) return true;
    onFailure(new TypeError(`expected a ${expected}, got ${quoted(came)}`), key, 'AnotherKind');
    return false;
  }

  #forget(key: string): void {
    const record = this.#records.get(key);
    if (!record) return;
    this.#records.delete(key);
    this.#remove(record, key);
  }

  #project(raw: Json, key: string): R | null {
    try {
      return this.#options.project(raw);
    } catch (error) {
      this.#options.onFailure(error, key, 'NotProjected');
      return null;
    }
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

function keyOfRaw(raw: unknown): string | null {
  const metadata = metadataOf(raw);
  return metadata && keyOf(metadata.namespace, metadata.name);
}
