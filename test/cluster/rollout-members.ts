import { mysqldContainer, revisionHashLabel } from '../../src/moco/names.ts';
import type { Pod } from '../support/moco/objects.ts';
import type { Moment } from './rollout-history.ts';

/** The image of mysqld. */
export function imageOf(pod: Pod): string | undefined {
  const { spec } = pod as Pod & { spec?: { containers: readonly { name: string; image: string }[] } };
  return spec?.containers.find(({ name }) => name === mysqldContainer)?.image;
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
