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
import { clusterKind } from '../../../src/moco/names.ts';
import type { WrittenKind } from './write.ts';

/** Where in the API each kind is that MOCO writes. */
export const writtenKinds: Readonly<Record<WrittenKind, ResourceKind>> = {
  MySQLCluster: clusterKind,
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
