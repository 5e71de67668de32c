import type { ResourceKind } from '../../src/kube/resource.ts';
import type { WrittenKind } from './write.ts';

function kind(group: string, version: string, plural: string, name: string, namespaced = true): ResourceKind {
  return { group, version, plural, kind: name, namespaced };
}

/** Where in the API each kind is that MOCO writes. */
export const writtenKinds: Readonly<Record<WrittenKind, ResourceKind>> = {
  MySQLCluster: kind('moco.cybozu.com', 'v1beta2', 'mysqlclusters', 'MySQLCluster'),
  StatefulSet: kind('apps', 'v1', 'statefulsets', 'StatefulSet'),
  Pod: kind('', 'v1', 'pods', 'Pod'),
  Service: kind('', 'v1', 'services', 'Service'),
  ServiceAccount: kind('', 'v1', 'serviceaccounts', 'ServiceAccount'),
  PodDisruptionBudget: kind('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  CronJob: kind('batch', 'v1', 'cronjobs', 'CronJob'),
  PersistentVolumeClaim: kind('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
};

export const storageClasses: ResourceKind = kind('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', false);
