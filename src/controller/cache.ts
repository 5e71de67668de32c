import { Store, type Stored } from '../kube/store.ts';
import { clusterNameLabel } from '../moco/names.ts';
import type {
  BackupRecord,
  BudgetRecord,
  ClusterObjects,
  ClusterRecord,
  PodRecord,
  StatefulSetRecord,
} from '../moco/records.ts';
import type { MySQLRollout } from './rollout-resource.ts';

/** A MySQLRollout as the cache keeps it: whole, since its status is written as a whole. */
export interface RolloutRecord extends Stored {
  readonly object: MySQLRollout;
}

const byCluster = {
  cluster: (record: Stored & { clusterName: string }) => keyOf(record.namespace, record.clusterName),
};

export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

export function splitKey(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

/** What the watches have brought, by cluster. */
export class Cache {
  readonly clusters = new Store<ClusterRecord>({ namespace: (cluster) => cluster.namespace });
  readonly statefulSets = new Store<StatefulSetRecord>(byCluster);
  readonly pods = new Store<PodRecord>(byCluster);
  readonly budgets = new Store<BudgetRecord>({ namespace: (budget) => budget.namespace });
  readonly backups = new Store<BackupRecord>(byCluster);
  readonly rollouts = new Store<RolloutRecord>({});

  /** Calls with the key of every cluster that a change concerns. Returns a function that ends it. */
  onChange(changed: (key: string) => void): () => void {
    const own = ({ before, after }: { before: Stored | null; after: Stored | null }): void => {
      const object = after ?? before;
      if (object) changed(keyOf(object.namespace, object.name));
    };
    const owned = ({ before, after }: { before: Owned | null; after: Owned | null }): void => {
      for (const key of new Set([before, after].filter((object) => object !== null).map(ownerKey))) changed(key);
    };
    const ends = [
      this.clusters.subscribe(own),
      this.rollouts.subscribe(own),
      this.statefulSets.subscribe(owned),
      this.pods.subscribe(owned),
      this.backups.subscribe(owned),
      this.budgets.subscribe(({ before, after }) => {
        for (const key of new Set([before, after].flatMap((budget) => this.#concerned(budget)))) changed(key);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** `null` when there is no such MySQLCluster. */
  objects(key: string): ClusterObjects | null {
    const [namespace, name] = splitKey(key);
    const cluster = this.clusters.get(namespace, name);
    if (!cluster) return null;
    return {
      cluster,
      statefulSet: this.statefulSets.by('cluster', key)[0] ?? null,
      pods: this.pods.by('cluster', key),
      budgets: this.budgets.by('namespace', namespace),
      backup: this.backups.by('cluster', key)[0] ?? null,
    };
  }

  /** MOCO's own budgets name their cluster; any other may select any cluster of its namespace. */
  #concerned(budget: BudgetRecord | null): readonly string[] {
    if (budget === null) return [];
    const name = budget.selector?.matchLabels[clusterNameLabel];
    if (name !== undefined) return [keyOf(budget.namespace, name)];
    return this.clusters.by('namespace', budget.namespace).map((cluster) => keyOf(cluster.namespace, cluster.name));
  }
}

type Owned = Stored & { readonly clusterName: string };

const ownerKey = (object: Owned): string => keyOf(object.namespace, object.clusterName);
