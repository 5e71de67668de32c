import type { ResourceKind } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../../support/object-client.ts';

const configMaps: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
const place = { namespace: 'default', name: 'moco-rollout-chaos' };

/** A process has begun to ask what it is about to act on. */
export interface Asked {
  readonly actor: string;
  readonly namespace: string;
  /** The store's, before its first read. */
  readonly revision: number;
  readonly atMilliseconds: number;
}

/**
 * Tells which revision the store is at, by a write: a list would be answered out of the API server's cache, and only once
 * that has caught up with every kind (ConsistentListFromCache, Kubernetes 1.31 and later).
 */
export class StoreClock {
  readonly #client: ObjectClient;
  #ticks = 0;

  private constructor(client: ObjectClient) {
    this.#client = client;
  }

  static async start(client: ObjectClient): Promise<StoreClock> {
    await client.create(configMaps, { namespace: place.namespace }, { metadata: place }, { priority: 'disrupt' });
    return new StoreClock(client);
  }

  async revision(): Promise<number> {
    const data = { tick: String((this.#ticks += 1)) };
    const written = await this.#client.patch<{ metadata: { resourceVersion: string } }>(
      configMaps,
      place,
      'application/merge-patch+json',
      { data },
      { priority: 'disrupt' },
    );
    return Number(written.metadata.resourceVersion);
  }
}
