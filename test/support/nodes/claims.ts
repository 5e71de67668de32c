import type { PersistentVolumeClaim } from './objects.ts';

/** A strategic merge patch of a claim, of the object itself or of its status. */
export interface ClaimWrite {
  readonly verb: 'patchClaim';
  readonly namespace: string;
  readonly name: string;
  readonly subresource: 'status' | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Volumes are there at once and grow at once; nothing is behind them. */
export function claimStep({ metadata, spec, status }: PersistentVolumeClaim): readonly ClaimWrite[] {
  if (metadata.deletionTimestamp !== undefined) {
    return [];
  }
  const { namespace, name, uid } = metadata;
  const wanted = spec.resources?.requests?.['storage'];
  const bound: readonly ClaimWrite[] =
    spec.volumeName === undefined
      ? [{ verb: 'patchClaim', namespace, name, subresource: null, body: { spec: { volumeName: `pvc-${uid}` } } }]
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
