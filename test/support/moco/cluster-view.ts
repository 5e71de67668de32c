import type {
  CronJob,
  KubernetesObject,
  MySQLCluster,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  StorageClass,
} from './objects.ts';

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

/** A moment on both clocks: durations are measured on the first, timestamps in objects belong to the second. */
export interface Moment {
  readonly monotonicMilliseconds: number;
  readonly wallMilliseconds: number;
}
