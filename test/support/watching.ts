import { type Json } from '../../src/base/json.ts';
import type { Log } from '../../src/base/world.ts';
import type { Query } from '../../src/kube/api-client.ts';
import { metadataOf } from '../../src/kube/raw-object.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import type { ResourceKind } from '../../src/kube/resource.ts';
import type { Store, Stored } from '../../src/kube/store.ts';
import type { Access } from './object-client.ts';
import { silentLog } from './silent-log.ts';

/** Keeps stores as an API server has the objects of their kinds, from its start until it is stopped. */
export class Watching {
  readonly #through: Access & { readonly log: Log };
  readonly #reflectors: Pick<Reflector<Stored>, 'run' | 'synced'>[] = [];
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor({ client, world }: Access, log: Log = silentLog) {
    this.#through = { client, world, log };
  }

  /** Keeps that store from its start on. Returns it. */
  follow<R extends Stored>(
    store: Store<R>,
    kind: ResourceKind,
    project: (raw: Json) => R | null,
    query: Query = {},
  ): Store<R> {
    this.#reflectors.push(new Reflector({ ...this.#through, store, kind, project, query }));
    return store;
  }

  /** Resolves once everything has been listed. */
  async start(): Promise<void> {
    this.#running = Promise.all(this.#reflectors.map((reflector) => reflector.run(this.#stopping.signal)));
    await Promise.all(this.#reflectors.map(({ synced }) => synced));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

/** A whole object as it came. */
export interface Cached<T> extends Stored {
  readonly object: T;
}

export function cached<T>(raw: Json): Cached<T> | null {
  const metadata = metadataOf(raw);
  return metadata && { ...metadata, object: raw as T };
}
