import type { ClusterView } from './cluster-view.ts';
import type { ClaimTemplate, PersistentVolumeClaim, StatefulSet } from './objects.ts';
import { bytes } from './quantity.ts';
import type { Patch } from './write.ts';

/**
 * MOCO grows the claims itself before it re-creates the StatefulSet with the bigger template, but only if the
 * StatefulSet is not being updated. During an update the growth is lost: the StatefulSet is re-created all the same,
 * and nothing shows afterwards that the claims are smaller than the template.
 */
export function grownClaims(view: ClusterView): Patch[] {
  const { statefulSet } = view;
  if (statefulSet === null || isBeingUpdated(statefulSet)) {
    return [];
  }
  return view.cluster.spec.volumeClaimTemplates.flatMap((template) => {
    const deployed = statefulSet.spec.volumeClaimTemplates?.find(
      ({ metadata }) => metadata.name === template.metadata.name,
    );
    if (deployed === undefined || bytes(requested(deployed)) >= bytes(requested(template))) {
      return [];
    }
    return view.claims
      .filter((claim) => belongsTo(claim, template, statefulSet) && isExpandable(view, claim))
      .filter((claim) => bytes(requested(claim)) < bytes(requested(template)))
      .map((claim) => grow(claim, requested(template)));
  });
}

function requested(claim: Pick<ClaimTemplate, 'spec'>): string {
  return claim.spec.resources?.requests?.['storage'] ?? '0';
}

function belongsTo(claim: PersistentVolumeClaim, template: ClaimTemplate, statefulSet: StatefulSet): boolean {
  return Array.from({ length: statefulSet.spec.replicas ?? 1 }, (_, ordinal) => ordinal).some(
    (ordinal) => claim.metadata.name === `${template.metadata.name}-${statefulSet.metadata.name}-${ordinal}`,
  );
}

function isExpandable(view: ClusterView, claim: PersistentVolumeClaim): boolean {
  const storageClass = view.storageClasses.find(({ metadata }) => metadata.name === claim.spec.storageClassName);
  return storageClass?.allowVolumeExpansion === true;
}

function grow(claim: PersistentVolumeClaim, storage: string): Patch {
  return {
    verb: 'patch',
    kind: 'PersistentVolumeClaim',
    namespace: claim.metadata.namespace,
    name: claim.metadata.name,
    uid: claim.metadata.uid,
    body: { spec: { resources: { requests: { storage } } } },
  };
}

function isBeingUpdated(statefulSet: StatefulSet): boolean {
  const { metadata, spec, status } = statefulSet;
  const replicas = spec.replicas ?? 1;
  const partition = spec.updateStrategy?.rollingUpdate?.partition;
  const observed = status?.observedGeneration ?? 0;
  return (
    metadata.deletionTimestamp !== undefined ||
    observed === 0 ||
    (metadata.generation ?? 0) > observed ||
    (status?.readyReplicas ?? 0) < replicas ||
    (spec.updateStrategy?.type === 'RollingUpdate' &&
      partition !== undefined &&
      (status?.updatedReplicas ?? 0) < replicas - partition) ||
    status?.updateRevision !== status?.currentRevision
  );
}
