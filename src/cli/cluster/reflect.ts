import type { Query } from '../../kube/api-client.ts';
import { Reflector } from '../../kube/reflector.ts';
import { path, type ResourceKind } from '../../kube/resource.ts';
import type { Store, Stored } from '../../kube/store.ts';
import type { Json } from '../../moco/json.ts';
import type { Session } from './session.ts';

const pageSize = 500;

/** What to watch, and where to put it. */
export interface Watched<R extends Stored> {
  readonly kind: ResourceKind;
  /** `null` for all namespaces. */
  readonly namespace: string | null;
  readonly query?: Query;
  readonly store: Store<R>;
  readonly project: (raw: Json) => R | null;
}

/** A watch that keeps a store up to date. What goes wrong is a warning: the user watches, and it may get better. */
export function reflectorOf<R extends Stored>(
  { client, world, host }: Pick<Session, 'client' | 'world' | 'host'>,
  { kind, namespace, ...watched }: Watched<R>,
): Reflector<R> {
  const quiet = (): void => undefined;
  const warn = (_: object, message: string): void => host.err(`warning: ${message}\n`);
  return new Reflector<R>({
    client,
    world,
    log: { debug: quiet, info: quiet, warn, error: warn },
    path: path(kind, namespace === null ? {} : { namespace }),
    pageSize,
    onUnavailable: quiet,
    ...watched,
  });
}
