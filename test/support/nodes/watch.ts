import { isConflict, isNotFound } from '../../../src/kube/api-error.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import type { ResourceKind } from '../../../src/kube/resource.ts';
import type { Store, Stored } from '../../../src/kube/store.ts';
import type { Log, World } from '../../../src/kube/world.ts';
import type { ObjectClient } from '../object-client.ts';
import type { ObjectMeta } from './objects.ts';

/** What every part of the stand-in watches and writes through. */
export interface Dependencies {
  readonly client: ObjectClient;
  readonly world: World;
  readonly log: Log;
}

/** An object as received. */
export interface Cached<T> extends Stored {
  readonly object: T;
}

/** Feeds a store with the objects of a kind. */
export function watch<T extends { readonly metadata: ObjectMeta }>(
  { client, world, log }: Dependencies,
  kind: ResourceKind,
  store: Store<Cached<T>>,
): Reflector<Cached<T>> {
  return new Reflector<Cached<T>>({ client, world, log, kind, store, project: cache<T> });
}

function cache<T extends { readonly metadata: ObjectMeta }>(raw: unknown): Cached<T> {
  const object = raw as T;
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return { namespace, name, uid, resourceVersion, object };
}

/** Reports why a write failed, unless it was a conflict or the object was deleted. */
export function reportFailure(log: Log, object: string, error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) {
    log.warn({ object, error: String(error) }, 'nodes stand-in: a write was refused');
  }
}
