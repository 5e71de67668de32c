import { join } from 'node:path';

/** Of the StorageClasses and their provisioner. Every node of this machine can use a volume of the second one. */
export const storageClassName = 'local';
export const sharedStorageClassName = 'shared';
const provisioner = 'moco-rollout.io/local-volumes';
const selectedNode = 'volume.kubernetes.io/selected-node';
const hostname = 'kubernetes.io/hostname';

/** What a claim and a volume are to a provisioner. */
export interface Claim {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: { readonly capacity?: Readonly<Record<string, string>> };
}

export interface Volume {
  readonly metadata: {
    readonly namespace?: never;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly storageClassName?: string; readonly local: { readonly path: string } };
  readonly status?: { readonly phase?: string };
}

export type VolumeStep =
  | { readonly kind: 'create'; readonly volume: NewVolume }
  | {
      readonly kind: 'grow';
      readonly volume: string;
      readonly claim: { readonly namespace: string; readonly name: string };
      readonly storage: string;
    }
  | { readonly kind: 'delete'; readonly volume: string; readonly directory: string };

type NewVolume = ReturnType<typeof newVolume>;

/** The default class: a claim waits for the scheduler to choose a node, and its volume is a directory there. */
export const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: storageClassName, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
  allowVolumeExpansion: true,
} as const;

/** The volumes are tied to no node, like those of a network. */
export const sharedStorageClass = { ...storageClass, metadata: { name: sharedStorageClassName } } as const;

const isOurs = ({ storageClassName: name }: { readonly storageClassName?: string }): boolean =>
  name === storageClassName || name === sharedStorageClassName;

/**
 * What is to be done now, each step on its own.
 *
 * @param directoryOf where a node has its volumes
 */
export function volumeSteps(
  claims: readonly Claim[],
  volumes: readonly Volume[],
  directoryOf: (node: string) => string,
): readonly VolumeStep[] {
  const names = new Set(volumes.map(({ metadata }) => metadata.name));
  const ofClass = claims.filter(({ metadata, spec }) => {
    return isOurs(spec) && metadata.deletionTimestamp === undefined;
  });
  return [
    ...ofClass.flatMap((claim): readonly VolumeStep[] => {
      const { namespace, name, annotations } = claim.metadata;
      const { volumeName } = claim.spec;
      const node = annotations?.[selectedNode];
      if (volumeName === undefined) {
        if (node === undefined || names.has(nameOf(claim))) return [];
        return [{ kind: 'create', volume: newVolume(claim, node, directoryOf(node)) }];
      }
      const storage = requested(claim);
      const has = claim.status?.capacity?.['storage'];
      if (has === undefined || has === storage) return [];
      return [{ kind: 'grow', volume: volumeName, claim: { namespace, name }, storage }];
    }),
    ...volumes.flatMap(({ metadata, spec, status }): readonly VolumeStep[] => {
      const isOver = status?.phase === 'Released' && metadata.deletionTimestamp === undefined;
      if (!isOurs(spec) || !isOver) return [];
      return [{ kind: 'delete', volume: metadata.name, directory: spec.local.path }];
    }),
  ];
}

/** By its claim's uid, so that one claim never gets two. */
function nameOf({ metadata }: Claim): string {
  return `pvc-${metadata.uid}`;
}

function requested({ spec }: Claim): string {
  return spec.resources?.requests?.['storage'] ?? '0';
}

function newVolume(claim: Claim, node: string, directory: string) {
  const { namespace, name: claimName, uid } = claim.metadata;
  const name = nameOf(claim);
  const isShared = claim.spec.storageClassName === sharedStorageClassName;
  const expression = isShared
    ? ({ key: hostname, operator: 'Exists' } as const)
    : ({ key: hostname, operator: 'In', values: [node] } as const);
  const terms = [{ matchExpressions: [expression] }];
  return {
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      capacity: { storage: requested(claim) },
      accessModes: claim.spec.accessModes ?? [],
      volumeMode: claim.spec.volumeMode ?? 'Filesystem',
      storageClassName: claim.spec.storageClassName,
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid },
      nodeAffinity: { required: { nodeSelectorTerms: terms } },
      local: { path: join(directory, name) },
    },
  };
}
