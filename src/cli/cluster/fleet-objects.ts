import { policyKind } from '../../api/policy.ts';
import { sequenceKind } from '../../api/sequence.ts';
import { Cache } from '../../controller/observe/cache.ts';
import { type CachedKind, forEachCachedKind } from '../../controller/observe/cached-kinds.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { jobs, namespaces, podDisruptionBudgets, type ResourceKind } from '../../kube/resource.ts';
import type { Stored } from '../../kube/store.ts';
import { clusterKind } from '../../moco/names.ts';
import { clustersIn, ifThere, listEach } from './clusters.ts';
import type { Session } from './session.ts';

/** The objects of all clusters, as the controller's cache has them. */
export interface FleetObjects {
  readonly cache: Cache;
  /** Kinds that the user may not read and that are left out. */
  readonly unread: readonly string[];
}

/** Kinds without which a decision is only less exact. */
const optional: ReadonlySet<ResourceKind> = new Set([policyKind, podDisruptionBudgets, jobs, namespaces]);

/** Lists every kind that a decision needs once, in all namespaces. Rejects with `ApiError` or `CommandError`. */
export async function readFleet(session: Session): Promise<FleetObjects> {
  const cache = new Cache();
  const unread: string[] = [];
  const read = async <R extends Stored>({ kind, labelSelector, store, project }: CachedKind<R>): Promise<void> => {
    const list = listEach(session, kind, null, labelSelector === undefined ? {} : { labelSelector }, project);
    try {
      const found = await (kind.group === sequenceKind.group ? ifThere(list) : list);
      for (const record of found ?? []) if (record !== null) store.put(record);
    } catch (error) {
      if (!(optional.has(kind) && isForbidden(error))) throw error;
      unread.push(kind.plural);
    }
  };
  for (const cluster of await clustersIn(session, null)) cache.clusters.put(cluster);
  await Promise.all(
    forEachCachedKind(cache, true, async (cached) => {
      if (cached.kind !== clusterKind) await read(cached);
    }),
  );
  return { cache, unread: unread.toSorted() };
}
