import { type MySQLRollout, type RolloutRecord, rolloutKind, wholeRecord } from '../../api/rollout.ts';
import type { Json } from '../../base/json.ts';
import type { Query } from '../../kube/api-client.ts';
import { withoutRequest } from '../../kube/api-error.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { ResourceKind } from '../../kube/resource.ts';
import { byName, type Store, type Stored } from '../../kube/store.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import { Cache } from '../../objects/cache.ts';
import type { Watching } from '../terminal/live.ts';
import type { ClusterAndRollout } from './selection.ts';
import type { Session } from './session.ts';

// Keeps the objects of a live view up to date by watching them.

const pageSize = 500;

/** A kind of object to watch, and the store for its objects. */
interface WatchedKind<R extends Stored> {
  readonly kind: ResourceKind;
  readonly query?: Query;
  readonly store: Store<R>;
  readonly project: (raw: Json) => R | null;
}

/**
 * Watches every kind that `watch` registers, and keeps its store up to date. `namespace` is `null` for all namespaces.
 * Failures are reported as warnings, because the user is watching and the failures may be temporary.
 */
export function watching(
  { client, world, host }: Pick<Session, 'client' | 'world' | 'host'>,
  namespace: string | null,
  signal: AbortSignal,
  watch: (watched: <R extends Stored>(one: WatchedKind<R>) => void) => void,
): Watching {
  const quiet = (): void => undefined;
  let warned = '';
  const warn = ({ error }: { readonly error?: unknown }, message: string): void => {
    const warning = error instanceof Error ? `${message}: ${withoutRequest(error)}` : message;
    // Several watches may fail for the same reason, and each retry fails again: this warns only once.
    if (warning !== warned) host.err(`warning: ${warning}\n`);
    warned = warning;
  };
  const log = { debug: quiet, info: quiet, warn, error: warn };
  const all: Watching[] = [];
  watch((watched) => {
    const place = { namespace: namespace ?? undefined };
    const reflector = new Reflector({ client, world, log, pageSize, onUnavailable: quiet, ...place, ...watched });
    const subscribe = (changed: () => void): void => void watched.store.subscribe(changed);
    all.push({ ended: reflector.run(signal), synced: reflector.synced, subscribe });
  });
  return {
    synced: Promise.all(all.map(({ synced }) => synced)),
    ended: Promise.all(all.map(({ ended }) => ended)),
    subscribe: (changed) => {
      for (const { subscribe } of all) subscribe(changed);
    },
  };
}

/**
 * Watches the MySQLClusters with the given names, or all that match the session's label selector, with their
 * MySQLRollouts. `clusters` returns the current clusters, sorted.
 */
export function watchClusters(
  session: Session,
  names: readonly string[],
  signal: AbortSignal,
): Watching & { readonly clusters: () => readonly ClusterAndRollout[] } {
  const { namespace, selector } = session;
  const { clusters, rollouts } = new Cache();
  const named: Query = names.length === 1 ? { fieldSelector: `metadata.name=${names[0]}` } : {};
  const byLabel: Query = names.length === 0 && selector !== undefined ? { labelSelector: selector } : {};
  const both = watching(session, namespace, signal, (watch) => {
    watch({ kind: clusterKind, query: { ...named, ...byLabel }, store: clusters, project: projectCluster });
    watch({ kind: rolloutKind, query: named, store: rollouts, project: projectRollout });
  });
  return {
    ...both,
    clusters: () =>
      clusters
        .values()
        .filter(({ name }) => names.length === 0 || names.includes(name))
        .toSorted(byName)
        .map((cluster) => ({ cluster, rollout: rollouts.get(cluster.namespace, cluster.name)?.object ?? null })),
  };
}

export const projectRollout = (raw: Json): RolloutRecord => wholeRecord(raw as unknown as MySQLRollout);
