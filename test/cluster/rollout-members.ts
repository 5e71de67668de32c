import { mysqldContainer, revisionHashLabel } from '../../src/moco/names.ts';
import type { KubernetesObject, Pod } from '../support/moco/objects.ts';
import type { Moment } from './rollout-history.ts';

interface Containers {
  readonly containers?: readonly { readonly name: string; readonly image: string }[];
}

/** The image of mysqld in a pod, or in the template of a StatefulSet. */
export function imageOf(object: KubernetesObject | null): string | undefined {
  const { spec } = (object ?? {}) as {
    readonly spec?: Containers & { readonly template?: { readonly spec: Containers } };
  };
  return (spec?.template?.spec ?? spec)?.containers?.find(({ name }) => name === mysqldContainer)?.image;
}

/** Whether a pod that stays is of the update revision, which is not the current one. */
export function isUpdated({ now }: { readonly now: Pick<Moment, 'statefulSet'> }, { metadata }: Pod): boolean {
  const { updateRevision, currentRevision } = now.statefulSet?.status ?? {};
  return (
    metadata.deletionTimestamp === undefined &&
    metadata.labels?.[revisionHashLabel] === updateRevision &&
    updateRevision !== currentRevision
  );
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;
}
