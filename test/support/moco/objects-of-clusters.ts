import type { Json } from '../../../src/base/json.ts';
import type { World } from '../../../src/base/world.ts';
import type { ResourceKind } from '../../../src/kube/resource.ts';
import { Store } from '../../../src/kube/store.ts';
import { clusterNameLabel, createdByLabel, createdByMoco } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';
import { type Cached, cached, Watching } from '../watching.ts';
import { type ClusterView, type ObjectOf, viewOf } from './cluster-view.ts';
import { storageClasses, writtenKinds } from './kinds.ts';
import type { KubernetesObject } from './objects.ts';
import type { WrittenKind } from './write.ts';

interface OfCluster extends Cached<KubernetesObject> {
  readonly clusterName: string;
}

interface WatchOptions {
  readonly client: ObjectClient;
  readonly world: World;
  /** Told of every change, with the cluster that it belongs to. */
  readonly onChange: (kind: WrittenKind, namespace: string, clusterName: string) => void;
}

const kinds = Object.keys(writtenKinds) as WrittenKind[];
const byCluster = 'cluster';

/**
 * Everything of every cluster, as the watches show it and as this program's own writes left it, whichever is newer:
 * nothing is decided twice because a watch is late.
 */
export class ObjectsOfClusters {
  readonly #stores: ReadonlyMap<WrittenKind, Store<OfCluster>>;
  readonly #storageClasses: Store<OfCluster>;
  readonly #watching: Watching;
  readonly #written = new Map<string, KubernetesObject>();

  constructor({ client, world, onChange }: WatchOptions) {
    this.#watching = new Watching({ client, world });
    const watch = (kind: ResourceKind, name: WrittenKind | null): Store<OfCluster> => {
      const store = new Store<OfCluster>({ [byCluster]: (cached) => key(cached.namespace, cached.clusterName) });
      const query =
        name === null || name === 'MySQLCluster' ? {} : { labelSelector: `${createdByLabel}=${createdByMoco}` };
      store.subscribe(({ before, after }) => {
        const changed = after ?? before;
        if (after === null && before !== null) {
          this.#written.delete(before.uid);
        }
        if (changed !== null && name !== null) {
          onChange(name, changed.namespace, changed.clusterName);
        }
      });
      return this.#watching.follow(store, kind, (raw) => ofCluster(raw, name), query);
    };
    this.#stores = new Map(kinds.map((name) => [name, watch(writtenKinds[name], name)]));
    this.#storageClasses = watch(storageClasses, null);
  }

  /** Resolves once everything has been listed. */
  start(): Promise<void> {
    return this.#watching.start();
  }

  stop(): Promise<void> {
    return this.#watching.stop();
  }

  /** What a write of this program left: counts until the watch shows the same or something newer. */
  wrote(object: KubernetesObject): void {
    this.#written.set(object.metadata.uid, object);
  }

  clusters(): readonly { readonly namespace: string; readonly name: string }[] {
    return [...(this.#stores.get('MySQLCluster')?.values() ?? [])];
  }

  /** `null` if there is no such MySQLCluster. */
  view(namespace: string, clusterName: string): ClusterView | null {
    return viewOf(
      clusterName,
      (kind) => this.#of(kind, namespace, clusterName),
      [...this.#storageClasses.values()].map(({ object }) => object),
    );
  }

  #of<K extends WrittenKind>(kind: K, namespace: string, clusterName: string): readonly ObjectOf[K][] {
    const cached = this.#stores.get(kind)?.by(byCluster, key(namespace, clusterName)) ?? [];
    return cached.map(({ uid, object }) => {
      const written = this.#written.get(uid);
      return (written !== undefined && isNewer(written, object) ? written : object) as ObjectOf[K];
    });
  }
}

function key(namespace: string, clusterName: string): string {
  return `${namespace}/${clusterName}`;
}

function ofCluster(raw: Json, kind: WrittenKind | null): OfCluster | null {
  const one = cached<KubernetesObject>(raw);
  const label = one?.object.metadata.labels?.[clusterNameLabel] ?? '';
  return one && { ...one, clusterName: kind === 'MySQLCluster' ? one.name : label };
}

function isNewer(left: KubernetesObject, right: KubernetesObject): boolean {
  return BigInt(left.metadata.resourceVersion) > BigInt(right.metadata.resourceVersion);
}
