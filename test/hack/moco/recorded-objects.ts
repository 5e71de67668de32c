import { readFileSync } from 'node:fs';
import type { KubernetesObject, MySQLCluster, StatefulSet } from '../../../hack/moco/objects.ts';
import { merge } from './story.ts';

interface RecordedObjects {
  readonly statefulSet: object;
  readonly statefulSetManagedFields: readonly { readonly fieldsV1: object }[];
  readonly podDisruptionBudget: KubernetesObject;
  readonly mysqlCluster: object;
  readonly services: readonly KubernetesObject[];
}

const recorded = JSON.parse(readFileSync(new URL('recorded/objects.json', import.meta.url), 'utf8')) as RecordedObjects;

/** The recording leaves uids out, except for the one in the StatefulSet's claim template. */
const clusterUid = '40b44918-196b-452a-bd03-a664e548422a';

/** Whole objects of one cluster of the real moco-controller 0.36.0, each with the uid that the recording left out. */
export const recordedObjects = {
  cluster: merge(recorded.mysqlCluster, { metadata: { uid: clusterUid } }) as MySQLCluster,
  statefulSet: owned(
    merge(recorded.statefulSet, { metadata: { managedFields: recorded.statefulSetManagedFields } }) as KubernetesObject,
  ) as StatefulSet,
  budget: owned(recorded.podDisruptionBudget),
  services: recorded.services.map(owned),
};

function owned(object: KubernetesObject): KubernetesObject {
  const ownerReferences = object.metadata.ownerReferences?.map((owner) => ({ ...owner, uid: clusterUid }));
  return merge(object, { metadata: { ownerReferences } }) as KubernetesObject;
}
