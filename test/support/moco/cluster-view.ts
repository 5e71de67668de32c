import { prefixedName } from './names.ts';
import type {
  CronJob,
  KubernetesObject,
  MySQLCluster,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  StorageClass,
} from './objects.ts';
import type { WrittenKind } from './write.ts';

/** Everything of one cluster that MOCO reads, at one moment. `null` is an object that isn't there. */
export interface ClusterView {
  readonly cluster: MySQLCluster;
  readonly statefulSet: StatefulSet | null;
  /** The pods that the cluster's labels select, in any order, with an owner or without. */
  readonly pods: readonly Pod[];
  readonly services: readonly KubernetesObject[];
  readonly serviceAccount: KubernetesObject | null;
  readonly budget: KubernetesObject | null;
  readonly backupCronJob: CronJob | null;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly storageClasses: readonly StorageClass[];
}

/** What each kind is as an object. */
export interface ObjectOf {
  readonly MySQLCluster: MySQLCluster;
  readonly StatefulSet: StatefulSet;
  readonly Pod: Pod;
  readonly Service: KubernetesObject;
  readonly ServiceAccount: KubernetesObject;
  readonly PodDisruptionBudget: KubernetesObject;
  readonly CronJob: CronJob;
  readonly PersistentVolumeClaim: PersistentVolumeClaim;
}

/** Of what there is of a cluster; `null` if there is no such MySQLCluster. */
export function viewOf(
  clusterName: string,
  of: <K extends WrittenKind>(kind: K) => readonly ObjectOf[K][],
  storageClasses: readonly StorageClass[],
): ClusterView | null {
  const [cluster] = of('MySQLCluster');
  if (cluster === undefined) return null;
  const named = <K extends WrittenKind>(kind: K): ObjectOf[K] | null =>
    of(kind).find(({ metadata }) => metadata.name === prefixedName(clusterName)) ?? null;
  return {
    cluster,
    statefulSet: named('StatefulSet'),
    pods: of('Pod'),
    services: of('Service'),
    serviceAccount: named('ServiceAccount'),
    budget: named('PodDisruptionBudget'),
    backupCronJob: of('CronJob')[0] ?? null,
    claims: of('PersistentVolumeClaim'),
    storageClasses,
  };
}
