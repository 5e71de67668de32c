import { type Json, object, objects, text, texts } from './json.ts';
import { revisionHashLabel } from './names.ts';

/**
 * The pod that the StatefulSet controller would create for a member from the StatefulSet's template
 * (Kubernetes 1.36, pkg/controller/statefulset/stateful_set_utils.go, newStatefulSetPod). It has no
 * `blockOwnerDeletion`, for which some installations want the right to the finalizers of the owner.
 */
export function successorOf(statefulSet: Json, revision: string, ordinal: number, name: string): Json {
  const { namespace, name: owner, uid } = object(statefulSet['metadata']);
  const { template: given, serviceName, volumeClaimTemplates } = object(statefulSet['spec']);
  const template = object(given);
  const { labels, annotations } = object(template['metadata']);
  const spec = object(template['spec']);
  const claims = objects(volumeClaimTemplates).map((claim) => text(object(claim['metadata'])['name']) ?? '');
  const volumes = objects(spec['volumes']).filter((volume) => !claims.includes(text(volume['name']) ?? ''));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      labels: {
        ...texts(labels),
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
        [revisionHashLabel]: revision,
      },
      annotations: texts(annotations),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: owner, uid, controller: true }],
    },
    spec: {
      ...spec,
      hostname: name,
      subdomain: serviceName,
      volumes: [
        ...claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } })),
        ...volumes,
      ],
    },
  };
}

/**
 * The names of the PersistentVolumeClaims that a pod mounts and that may outlive it. A claim of an ephemeral volume
 * belongs to the pod, and goes with it in any case.
 */
export function claimsOf(pod: Json): readonly string[] {
  return objects(object(pod['spec'])['volumes'])
    .map((volume) => text(object(volume['persistentVolumeClaim'])['claimName']))
    .filter((name) => name !== null);
}

/** Its deletion has been requested. */
export const isTerminating = (raw: Json): boolean => text(object(raw['metadata'])['deletionTimestamp']) !== null;
