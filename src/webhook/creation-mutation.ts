import { annotationOn, forceRollingUpdateAnnotation, strategyLabel, strategyOnDelete } from '../moco/names.ts';
import { type AdmittedStatefulSet, owningCluster, type PatchOperation } from './stateful-set.ts';
import { mutateStatefulSet } from './statefulset-mutation.ts';

/** Whether a cluster is to be at OnDelete: the gate is on, the user wants it so, and it is not handed back. */
export type IsOnDelete = (namespace: string, clusterName: string) => boolean;

export interface CreationMutation {
  /** The word goes into the API server's audit log. */
  readonly because: 'not-of-a-cluster' | 'forced' | 'not-on-delete' | 'on-delete';
  /** Empty where everything is as it should be. */
  readonly patch: readonly PatchOperation[];
}

const labelsPath = '/metadata/labels';

/**
 * Takes a StatefulSet at its creation: MOCO deletes one with its pods left behind and makes it again where a volume
 * template changes, and the new one comes without our label. Whatever MOCO's webhook has put beside the strategy's
 * type goes.
 */
export function mutateCreation(
  statefulSet: AdmittedStatefulSet,
  namespace: string,
  isOnDelete: IsOnDelete,
): CreationMutation {
  const clusterName = owningCluster(statefulSet);
  if (clusterName === null) return { because: 'not-of-a-cluster', patch: [] };
  const { metadata, spec } = statefulSet;
  if (metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn) return { because: 'forced', patch: [] };
  if (!isOnDelete(namespace, clusterName)) return { because: 'not-on-delete', patch: [] };
  const labels = { ...metadata.labels, [strategyLabel]: strategyOnDelete };
  const strategy = mutateStatefulSet({ metadata: { labels }, spec });
  return {
    because: 'on-delete',
    patch: [
      ...(metadata.labels?.[strategyLabel] === strategyOnDelete
        ? []
        : [{ op: 'add', path: labelsPath, value: labels } as const]),
      ...(strategy.kind === 'patched' ? strategy.patch : []),
    ],
  };
}
