import type { PersistentVolumeClaim } from './objects.ts';

/** A strategic merge patch of a claim, of the object itself or of its status. */
export interface ClaimWrite {
  readonly verb: 'patchClaim';
  readonly namespace: string;
  readonly name: string;
  readonly subresource: 'status' | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The PersistentVolume of a claim. It may be there already. */
export interface VolumeWrite {
  readonly verb: 'createVolume';
  readonly namespace: '';
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

function volumeOf({ metadata, spec }: PersistentVolumeClaim): VolumeWrite {
  const { namespace, name, uid } = metadata;
  const body = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pvc-${uid}` },
    spec: {
      capacity: { storage: spec.resources?.requests?.['storage'] ?? '1Gi' },
      accessModes: spec.accessModes ?? ['ReadWriteOnce'],
      hostPath: { path: '/nowhere' },
      claimRef: { kind: 'PersistentVolumeClaim', namespace, name, uid },
    },
  };
  return { verb: 'createVolume', namespace: '', name: `pvc-${uid}`, body };
}

/** Volumes are there at once and grow at once; nothing is behind them. */
export function claimStep(claim: PersistentVolumeClaim): readonly (ClaimWrite | VolumeWrite)[] {
  const { metadata, spec, status } = claim;
  if (metadata.deletionTimestamp !== undefined) {
    return [];
  }
  const { namespace, name, uid } = metadata;
  const wanted = spec.resources?.requests?.['storage'];
  const bound: readonly (ClaimWrite | VolumeWrite)[] =
    spec.volumeName === undefined
      ? [
          volumeOf(claim),
          { verb: 'patchClaim', namespace, name, subresource: null, body: { spec: { volumeName: `pvc-${uid}` } } },
        ]
      : [];
  const upToDate = status?.phase === 'Bound' && status.capacity?.['storage'] === wanted;
  return upToDate || wanted === undefined
    ? bound
    : [
        ...bound,
        {
          verb: 'patchClaim',
          namespace,
          name,
          subresource: 'status',
          body: { status: { phase: 'Bound', accessModes: spec.accessModes ?? [], capacity: { storage: wanted } } },
        },
      ];
}
