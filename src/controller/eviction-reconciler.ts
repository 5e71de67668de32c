import type { Json } from '../base/json.ts';
import type { Log, World } from '../base/world.ts';
import { type EvictionRecord, isAwaited } from '../evictions/eviction.ts';
import { applyEntry } from '../evictions/eviction-client.ts';
import { type ResponderEntry, respond, type Standing } from '../evictions/respond.ts';
import type { Standings } from '../evictions/standings.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { isNotFound } from '../kube/api-error.ts';
import { path, pods } from '../kube/resource.ts';
import { keyOf, splitKey } from '../kube/store.ts';
import type { RunResult } from '../kube/work-queue.ts';
import { projectSlimPod } from '../moco/pod-projection.ts';
import type { Cache } from '../objects/cache.ts';

// Answers Evictions: for each Eviction that waits for this program, reports in its status whether the member may be
// evicted.

export interface EvictionContext {
  readonly cache: Pick<Cache, 'evictions' | 'clusterOf'>;
  readonly standings: Pick<Standings, 'of'>;
  readonly client: Pick<ApiClient, 'call'>;
  readonly world: Pick<World, 'wall'>;
  readonly log: Log;
  readonly isLeading: () => boolean;
  /** How long this program may hold up an eviction. */
  readonly limitMilliseconds: number;
}

const notFollowed: Standing = { kind: 'mayGo', message: 'the pod is no member of a cluster that moco-rollout follows' };
/** A new Eviction triggers a pass over its cluster anyway. The pass usually follows within a second. */
const passMilliseconds = 10_000;
const notDecided: Standing = {
  kind: 'waits',
  message: 'moco-rollout has not looked at the cluster of this member yet',
  expectedSeconds: null,
};

/**
 * Writes into each Eviction that waits for this program whether its member may go. The passes over the clusters decide
 * what happens to the members, and do not depend on these entries.
 */
export class EvictionReconciler {
  readonly #context: EvictionContext;
  /** The last entry that this process has written to each Eviction, until the cache shows it. */
  readonly #written = new Map<string, { readonly uid: string; readonly entry: ResponderEntry }>();

  constructor(context: EvictionContext) {
    this.#context = context;
  }

  /**
   * Rejects if the API server does not respond or refuses the entry; the work queue retries.
   *
   * @param key the namespace and name of the Eviction
   */
  async reconcile(key: string, signal: AbortSignal): Promise<RunResult> {
    const { cache, client, world, log, isLeading, limitMilliseconds } = this.#context;
    if (!isLeading()) return {};
    const cached = cache.evictions.get(...splitKey(key));
    if (cached === undefined) {
      this.#written.delete(key);
      return {};
    }
    const eviction = this.#newest(key, cached);
    if (!isAwaited(eviction)) return {};
    const cluster = cache.clusterOf(eviction);
    const standing = cluster === null ? null : this.#standingOf(eviction, cluster);
    const waitedMilliseconds = world.wall() - (eviction.startedAt ?? 0);
    if (standing === null && waitedMilliseconds < passMilliseconds) {
      return { requeueAfterMilliseconds: passMilliseconds - Math.max(0, waitedMilliseconds) };
    }
    const isUnknown = cluster === null && !(await this.#isMember(eviction, signal));
    const known = standing ?? (isUnknown ? notFollowed : notDecided);
    const { entry, againMilliseconds } = respond(eviction, known, world.wall(), limitMilliseconds);
    const again = againMilliseconds === null ? {} : { requeueAfterMilliseconds: againMilliseconds };
    if (entry === null) return again;
    if (!(await applyEntry(client, eviction, entry, signal))) return {};
    this.#written.set(key, { uid: eviction.uid, entry });
    if (entry.completedAt !== null) {
      log.info({ eviction: key, member: eviction.pod.name }, 'Reported an Eviction as completed');
    }
    return again;
  }

  /** The last answer about the member; `null` until a pass over its cluster has considered the Eviction. */
  #standingOf({ namespace, pod }: EvictionRecord, cluster: string): Standing | null {
    return this.#context.standings.of(cluster, keyOf(namespace, pod.uid)) ?? null;
  }

  /**
   * Whether the pod belongs to MOCO. The pod is read again because the cache, which has no such member, may be behind.
   */
  async #isMember({ namespace, pod: { name, uid } }: EvictionRecord, signal: AbortSignal): Promise<boolean> {
    try {
      const raw = await this.#context.client.call<Json>({
        method: 'GET',
        path: path(pods, { namespace, name }),
        priority: 'read',
        signal,
      });
      return projectSlimPod(raw)?.uid === uid;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** The cached Eviction. If the cache is behind, it is combined with the last entry that this process wrote. */
  #newest(key: string, cached: EvictionRecord): EvictionRecord {
    const own = this.#written.get(key);
    if (own === undefined || own.uid !== cached.uid || (cached.heartbeatAt ?? 0) >= own.entry.heartbeatAt) {
      return cached;
    }
    return { ...cached, ...own.entry };
  }
}
