import type { ApiClient } from '../../../src/kube/api-client.ts';
import {
  jobs,
  path,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import type { Change } from './moment.ts';
import type { WitnessedKind, WitnessedObject } from './objects.ts';

const rollouts: ResourceKind = {
  group: 'moco-rollout.io',
  version: 'v1alpha1',
  plural: 'mysqlrollouts',
  kind: 'MySQLRollout',
  namespaced: true,
};

const kinds: Readonly<Record<WitnessedKind, ResourceKind>> = {
  MySQLCluster: clusterKind,
  StatefulSet: statefulSets,
  Pod: pods,
  MySQLRollout: rollouts,
  PodDisruptionBudget: podDisruptionBudgets,
  PersistentVolumeClaim: persistentVolumeClaims,
  Job: jobs,
};

interface Line {
  readonly type: string;
  readonly object: WitnessedObject;
}

/** Every change in one namespace of a real API server from now on, from plain watches, with its time of arrival. */
export class LiveFeed {
  readonly #changes: Change[] = [];
  readonly #stopping = new AbortController();
  #watching: Promise<unknown> = Promise.resolve();

  /** Watches from before anything is in the namespace. */
  static async start(client: ApiClient, namespace: string): Promise<LiveFeed> {
    const feed = new LiveFeed();
    const begun = await Promise.all(
      Object.entries(kinds).map(async ([kind, resource]) => {
        const place = path(resource, { namespace });
        const list = await client.call<{ metadata: { resourceVersion: string } }>({
          method: 'GET',
          path: place,
          priority: 'read',
        });
        return () => feed.#watch(client, kind as WitnessedKind, place, list.metadata.resourceVersion);
      }),
    );
    feed.#watching = Promise.all(begun.map((watch) => watch()));
    return feed;
  }

  /** In the order of the store. */
  get changes(): readonly Change[] {
    return this.#changes.toSorted((left, right) => left.revision - right.revision);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  async #watch(client: ApiClient, kind: WitnessedKind, place: string, resourceVersion: string): Promise<void> {
    const { signal } = this.#stopping;
    try {
      for await (const line of client.stream(place, { watch: true, resourceVersion, timeoutSeconds: 3600 }, signal)) {
        const { type, object } = JSON.parse(line) as Line;
        this.#changes.push({
          revision: Number(object.metadata.resourceVersion),
          atMilliseconds: Date.now(),
          kind,
          object: type === 'DELETED' ? null : object,
          identity: object,
        });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
