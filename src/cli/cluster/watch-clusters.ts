import { type MySQLRollout, type RolloutRecord, rolloutKind, wholeRecord } from '../../api/rollout.ts';
import { Cache } from '../../controller/cache/cache.ts';
import type { Query } from '../../kube/api-client.ts';
import { Reflector } from '../../kube/reflector.ts';
import { path, type ResourceKind } from '../../kube/resource.ts';
import { nameOf, type Store, type Stored } from '../../kube/store.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import type { ClusterAndRollout } from './selection.ts';
import type { Session } from './session.ts';

const pageSize = 500;

/** What to watch, and where to put it. */
interface Watched<R extends Stored> {
  readonly kind: ResourceKind;
  readonly query?: Query;
  readonly store: Store<R>;
  readonly project: (raw: Json) => R | null;
}

/** Watches that keep stores up to date until a signal is aborted. */
export interface Watching {
  /** Once the stores have what there is. */
  readonly synced: Promise<unknown>;
  readonly ended: Promise<unknown>;
  /** Calls back after each change. */
  readonly subscribe: (changed: () => void) => void;
}

/**
 * What `watched` makes a watch of; `namespace` is `null` for all. Failures are warnings: the user watches, and it may
 * get better.
 */
export function watching(
  { client, world, host }: Pick<Session, 'client' | 'world' | 'host'>,
  namespace: string | null,
  signal: AbortSignal,
  watch: (watched: <R extends Stored>(one: Watched<R>) => void) => void,
): Watching {
  const quiet = (): void => undefined;
  const warn = (_: object, message: string): void => host.err(`warning: ${message}\n`);
  const log = { debug: quiet, info: quiet, warn, error: warn };
  const synced: Promise<unknown>[] = [];
  const ended: Promise<unknown>[] = [];
  const subscribers: ((changed: () => void) => void)[] = [];
  watch(({ kind, ...watched }) => {
    const place = path(kind, namespace === null ? {} : { namespace });
    const reflector = new Reflector({ client, world, log, path: place, pageSize, onUnavailable: quiet, ...watched });
    ended.push(reflector.run(signal));
    synced.push(reflector.synced);
    subscribers.push((changed) => watched.store.subscribe(changed));
  });
  return {
    synced: Promise.all(synced),
    ended: Promise.all(ended),
    subscribe: (changed) => {
      for (const subscribe of subscribers) subscribe(changed);
    },
  };
}

/**
 * Watches the MySQLClusters with those names, or all that the session's label selector selects, with their
 * MySQLRollouts. `clusters` are those of the moment, sorted.
 */
export function watchClusters(
  session: Session,
  names: readonly string[],
  signal: AbortSignal,
): Watching & { readonly clusters: () => readonly ClusterAndRollout[] } {
  const { namespace, selector } = session;
  const { clusters, rollouts } = new Cache();
  const byName: Query = names.length === 1 ? { fieldSelector: `metadata.name=${names[0]}` } : {};
  const byLabel: Query = names.length === 0 && selector !== undefined ? { labelSelector: selector } : {};
  const both = watching(session, namespace, signal, (watch) => {
    watch({ kind: clusterKind, query: { ...byName, ...byLabel }, store: clusters, project: projectCluster });
    watch({ kind: rolloutKind, query: byName, store: rollouts, project: projectRollout });
  });
  return {
    ...both,
    clusters: () =>
      clusters
        .values()
        .filter(({ name }) => names.length === 0 || names.includes(name))
        .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
        .map((cluster) => ({ cluster, rollout: rollouts.get(cluster.namespace, cluster.name)?.object ?? null })),
  };
}

export const projectRollout = (raw: Json): RolloutRecord => wholeRecord(raw as unknown as MySQLRollout);
