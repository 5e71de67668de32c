import { Reflector } from '../../../src/kube/reflector.ts';
import type { ResourceKind } from '../../../src/kube/resource.ts';
import { Store, type Stored } from '../../../src/kube/store.ts';
import type { Log, World } from '../../../src/kube/world.ts';
import { clusterNameLabel, createdByLabel, createdByMoco } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';
import { type ClusterView, type ObjectOf, viewOf } from './cluster-view.ts';
import { storageClasses, writtenKinds } from './kinds.ts';
import type { KubernetesObject } from './objects.ts';
import type { WrittenKind } from './write.ts';

/** A whole object, unchanged. */
interface Cached extends Stored {
  readonly clusterName: string;
  readonly object: KubernetesObject;
}

interface WatchOptions {
  readonly client: ObjectClient;
  readonly world: World;
  readonly log: Log;
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
  readonly #stores: ReadonlyMap<WrittenKind, Store<Cached>>;
  readonly #storageClasses: Store<Cached>;
  readonly #reflectors: readonly Reflector<Cached>[];
  readonly #written = new Map<string, KubernetesObject>();

  constructor({ client, world, log, onChange }: WatchOptions) {
    const reflectors: Reflector<Cached>[] = [];
    const watch = (kind: ResourceKind, name: WrittenKind | null): Store<Cached> => {
      const store = new Store<Cached>({ [byCluster]: (cached) => key(cached.namespace, cached.clusterName) });
      const query =
        name === null || name === 'MySQLCluster' ? {} : { labelSelector: `${createdByLabel}=${createdByMoco}` };
      const project = (raw: unknown): Cached => cache(raw as KubernetesObject, name);
      reflectors.push(new Reflector({ client, world, log, kind, query, store, project }));
      store.subscribe(({ before, after }) => {
        const changed = after ?? before;
        if (after === null && before !== null) {
          this.#written.delete(before.uid);
        }
        if (changed !== null && name !== null) {
          onChange(name, changed.namespace, changed.clusterName);
        }
      });
      return store;
    };
    this.#stores = new Map(kinds.map((name) => [name, watch(writtenKinds[name], name)]));
    this.#storageClasses = watch(storageClasses, null);
    this.#reflectors = reflectors;
  }

  /** Ends when the signal does. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  async synced(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.synced));
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

function cache(object: KubernetesObject, kind: WrittenKind | null): Cached {
  const { name, uid, resourceVersion, labels } = object.metadata;
  const clusterName = kind === 'MySQLCluster' ? name : (labels?.[clusterNameLabel] ?? '');
  const namespace = kind === null ? '' : object.metadata.namespace;
  return { namespace, name, uid, resourceVersion, clusterName, object };
}

function isNewer(left: KubernetesObject, right: KubernetesObject): boolean {
  return BigInt(left.metadata.resourceVersion) > BigInt(right.metadata.resourceVersion);
}
