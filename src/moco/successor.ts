import { type Json, object, objects, text, texts } from '../base/json.ts';
import { numberOf } from './in-place/quantity.ts';
import { revisionHashLabel } from './names.ts';

// The pod that would replace a member's pod, for dry runs, and how much of a quota would be left for it.

/**
 * The pod that the StatefulSet controller would create for a member from the StatefulSet's template (Kubernetes 1.36,
 * pkg/controller/statefulset/stateful_set_utils.go, newStatefulSetPod). The owner reference has no
 * `blockOwnerDeletion`, which in some installations requires a right on the finalizers of the owner.
 */
export function successorOf(statefulSet: Json, revision: string, ordinal: number, name: string): Json {
  const { namespace, name: owner, uid } = object(statefulSet['metadata']);
  const { template: given, serviceName, volumeClaimTemplates } = object(statefulSet['spec']);
  const template = object(given);
  const { labels, annotations } = object(template['metadata']);
  const spec = object(template['spec']);
  const claims = new Set(objects(volumeClaimTemplates).map((claim) => text(object(claim['metadata'])['name']) ?? ''));
  const volumes = objects(spec['volumes']).filter((volume) => !claims.has(text(volume['name']) ?? ''));
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
        ...[...claims].map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } })),
        ...volumes,
      ],
    },
  };
}

/**
 * The names of the PersistentVolumeClaims that a pod mounts and that may outlive it. The claim of an ephemeral volume
 * belongs to the pod and is deleted with it.
 */
export function claimsOf(pod: Json): readonly string[] {
  const names = objects(object(pod['spec'])['volumes'])
    .map((volume) => text(object(volume['persistentVolumeClaim'])['claimName']))
    .filter((name) => name !== null);
  return [...new Set(names)];
}

export const isTerminating = (raw: Json): boolean => text(object(raw['metadata'])['deletionTimestamp']) !== null;

type Amounts = ReadonlyMap<string, number>;

/**
 * Whether a quota that refuses a dry run would admit the pod once its predecessor is gone. Until then the quota counts
 * both pods. `message` is the API server's (Kubernetes 1.36, plugin/pkg/admission/resourcequota): `exceeded quota:
 * NAME, requested: …, used: …, limited: …`, each with the resources that are short.
 */
export function fitsWithout(message: string, pod: Json): boolean {
  const [, quota] = cutAt(message, 'exceeded quota: ');
  const [, afterName] = cutAt(quota, ', requested: ');
  const [requested, afterRequested] = cutAt(afterName, ', used: ');
  const [used, limited] = cutAt(afterRequested, ', limited: ');
  if (limited === '') return false;
  const [usedAmounts, limits] = [amounts(used), amounts(limited.trim())];
  return [...amounts(requested)].every(([resource, more]) => {
    const left = (usedAmounts.get(resource) ?? Number.NaN) - usedBy(pod, resource);
    return left + more <= (limits.get(resource) ?? Number.NaN);
  });
}

/** The text before and after the first occurrence of `words`. If there is none, the whole text and an empty text. */
function cutAt(text: string, words: string): readonly [before: string, behind: string] {
  const at = text.indexOf(words);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + words.length)];
}

function amounts(list: string): Amounts {
  const pairs = list.split(',').map((pair) => pair.split('='));
  return new Map(pairs.map(([resource = '', quantity = '']) => [resource.trim(), numberOf(quantity) ?? Number.NaN]));
}

/** How much of the quota the old pod frees. 0 if that is unknown. */
function usedBy(pod: Json, counted: string): number {
  if (counted === 'pods' || counted === 'count/pods') return 1;
  const limits = counted.startsWith('limits.');
  const resource = counted.replace(/^(requests|limits)\./, '');
  const spec = object(pod['spec']);
  const of = (container: Json): number => {
    const { [limits ? 'limits' : 'requests']: list } = object(container['resources']);
    return numberOf(text(object(list)[resource]) ?? '0') ?? 0;
  };
  const all = (containers: readonly Json[]): number => containers.reduce((sum, one) => sum + of(one), 0);
  const first = objects(spec['initContainers']);
  const isSidecar = (one: Json): boolean => one['restartPolicy'] === 'Always';
  const sidecars = first.filter(isSidecar);
  const largestFirst = Math.max(0, ...first.filter((one) => !isSidecar(one)).map(of));
  return Math.max(all([...objects(spec['containers']), ...sidecars]), largestFirst);
}
