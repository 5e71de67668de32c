import { readFileSync } from 'node:fs';
import { mergePatch } from '../merge-patch.ts';
import type { KubernetesObject, MySQLCluster, StatefulSet } from './objects.ts';

interface RecordedObjects {
  readonly statefulSet: object;
  readonly statefulSetManagedFields: readonly { readonly fieldsV1: object }[];
  readonly podDisruptionBudget: KubernetesObject;
  readonly mysqlCluster: object;
  readonly services: readonly KubernetesObject[];
}

const recorded = JSON.parse(
  readFileSync(new URL('../../fixtures/moco-recorded/objects.json', import.meta.url), 'utf8'),
) as RecordedObjects;

/** The recording omits uids, except for the one in the StatefulSet's claim template. */
const clusterUid = '40b44918-196b-452a-bd03-a664e548422a';

/** Whole objects of one cluster of the real moco-controller 0.36.0, each with the uid that the recording left out. */
export const recordedObjects = {
  cluster: mergePatch(recorded.mysqlCluster, { metadata: { uid: clusterUid } }) as MySQLCluster,
  statefulSet: owned(
    mergePatch(recorded.statefulSet, {
      metadata: { managedFields: recorded.statefulSetManagedFields },
    }) as KubernetesObject,
  ) as StatefulSet,
  budget: owned(recorded.podDisruptionBudget),
  services: recorded.services.map(owned),
};

function owned(object: KubernetesObject): KubernetesObject {
  const ownerReferences = object.metadata.ownerReferences?.map((owner) => ({ ...owner, uid: clusterUid }));
  return mergePatch(object, { metadata: { ownerReferences } }) as KubernetesObject;
}
