import { shortened } from '../../base/text.ts';
import type { World } from '../../base/world.ts';
import type { NodesLeaving } from '../../core/snapshot.ts';
import { isRequested } from '../../evictions/eviction.ts';
import { keyOf } from '../../kube/store.ts';
import type { LeavingSigns } from '../../moco/node-maintenance.ts';
import type { PodRecord } from '../../moco/records.ts';
import type { Cache } from '../../objects/cache.ts';

// Which cached members have to leave their nodes: because the node is being taken out of service, or because a user or
// a program has requested the eviction of the member.

/** The name of the requester appears in messages, so it is cut off after this many characters. */
const mostRequesterCharacters = 100;

/** What is known about nodes that are being taken out of service. */
export interface KnownNodes {
  readonly signs: LeavingSigns;
  /** Whether a watch delivers every node. Otherwise only nodes that were read are known. */
  readonly watched: boolean;
  /**
   * Why the node is being taken out of service, as a phrase that follows the node's name. `null` if it is not being
   * taken out of service, or if that is unknown.
   */
  leaving(name: string): string | null;
  /**
   * Who has requested the eviction of this member, as a phrase that follows the name of its node. The node itself may
   * stay. `null` if there is no such request.
   */
  requested(pod: Pick<PodRecord, 'namespace' | 'uid'>): string | null;
  /** `null` while nodes are not watched. */
  nodesLeaving(): NodesLeaving | null;
}

const mostShownNodes = 100;

/** The nodes of the cache. */
export class WatchedNodes implements KnownNodes {
  readonly signs: LeavingSigns;
  readonly watched = true;
  readonly #cache: Pick<Cache, 'nodes' | 'pods' | 'evictions'>;
  readonly #world: Pick<World, 'monotonic'>;
  /**
   * When a member was last seen on a node that was being taken out of service, or when this process started if none has
   * been.
   */
  #lastSeenMilliseconds: number;

  constructor(
    cache: Pick<Cache, 'nodes' | 'pods' | 'evictions'>,
    world: Pick<World, 'monotonic'>,
    signs: LeavingSigns,
  ) {
    this.signs = signs;
    this.#cache = cache;
    this.#world = world;
    const seen = (): void => {
      this.#lastSeenMilliseconds = world.monotonic();
    };
    this.#lastSeenMilliseconds = world.monotonic();
    cache.nodes.subscribe(({ before }) => {
      if (before !== null && before.leaving !== null) seen();
    });
    cache.pods.subscribe(({ before }) => {
      if (before !== null && before.node !== null && this.leaving(before.node) !== null) seen();
    });
  }

  leaving(name: string): string | null {
    return this.#cache.nodes.get('', name)?.leaving ?? null;
  }

  requested({ namespace, uid }: Pick<PodRecord, 'namespace' | 'uid'>): string | null {
    const eviction = this.#cache.evictions.by('pod', keyOf(namespace, uid)).find(isRequested);
    if (eviction === undefined) return null;
    const [requester = 'an unknown client'] = eviction.requesters;
    return `is to be left: ${shortened(requester, mostRequesterCharacters)} has requested the eviction of ${eviction.pod.name}`;
  }

  /** Members on each node that is being taken out of service, at most for 100 nodes. */
  get leavingNodes(): readonly { readonly node: string; readonly members: number }[] {
    return this.#leaving()
      .slice(0, mostShownNodes)
      .map(({ name }) => ({ node: name, members: this.#cache.pods.by('node', name).length }));
  }

  nodesLeaving(): NodesLeaving {
    const names = this.#leaving()
      .map(({ name }) => name)
      .filter((name) => this.#cache.pods.by('node', name).length > 0)
      .toSorted();
    const sinceMilliseconds = this.#world.monotonic() - this.#lastSeenMilliseconds;
    return { names, overForSeconds: names.length > 0 ? 0 : sinceMilliseconds / 1000 };
  }

  #leaving() {
    return this.#cache.nodes.values().filter(({ leaving }) => leaving !== null);
  }
}
