import type { ResourceKind } from '../../src/kube/resource.ts';

/** A kind that the program does not know. */
export const configMaps: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
