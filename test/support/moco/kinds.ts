import {
  cronJobs,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  serviceAccounts,
  services,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { mocoGroup } from './names.ts';
import type { WrittenKind } from './write.ts';

const mysqlClusters: ResourceKind = {
  group: mocoGroup,
  version: 'v1beta2',
  plural: 'mysqlclusters',
  kind: 'MySQLCluster',
  namespaced: true,
};

/** Where in the API each kind is that MOCO writes. */
export const writtenKinds: Readonly<Record<WrittenKind, ResourceKind>> = {
  MySQLCluster: mysqlClusters,
  StatefulSet: statefulSets,
  Pod: pods,
  Service: services,
  ServiceAccount: serviceAccounts,
  PodDisruptionBudget: podDisruptionBudgets,
  CronJob: cronJobs,
  PersistentVolumeClaim: persistentVolumeClaims,
};

export const storageClasses: ResourceKind = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};
