import type { Step } from '../core/decision.ts';
import type { StatefulSetFacts } from '../core/snapshot.ts';
import type { Gathered } from './gather.ts';
import type { MySQLRollout, RolloutStatus } from './rollout-resource.ts';

/** A person has taken the cluster back, and no spec written since then asks for OnDelete. */
export function isHandedBack(rollout: MySQLRollout | null): boolean {
  const marker = rollout?.status?.handedBack;
  if (!rollout || !marker) return false;
  const isLater = (rollout.metadata.generation ?? 0) > marker.generation;
  return !(isLater && rollout.spec?.strategy === 'OnDelete');
}

/**
 * A current revision that was replaced for a hand-back is remembered until Kubernetes has looked at the StatefulSet as
 * it was given back: the last sync from before is over then, and nothing overwrites it any more.
 */
export function promotionLeft(
  { promotion }: RolloutStatus,
  statefulSet: StatefulSetFacts | null,
  onDelete: boolean,
): RolloutStatus['promotion'] {
  if (!promotion || statefulSet === null) return promotion;
  const { labelled, observed, currentRevision } = statefulSet;
  if (labelled) return onDelete ? undefined : promotion;
  return observed && currentRevision !== promotion.from ? undefined : promotion;
}

/**
 * What has to be written down before a hand-back replaces the current revision, so that whoever goes on after a crash
 * sees to it that it stays; nothing where there is nothing to write down, or it is there.
 */
export function promotionToRemember(
  { snapshot, policy }: Pick<Gathered, 'snapshot' | 'policy'>,
  step: Step,
): RolloutStatus['promotion'] {
  const { statefulSet, promotion, handedBack } = snapshot;
  if (step.kind !== 'promoteRevision' || !statefulSet?.labelled) return undefined;
  if (policy.mode === 'OnDelete' && !handedBack) return undefined;
  const { currentRevision: from } = statefulSet;
  const to = step.revision;
  return promotion?.from === from && promotion.to === to ? undefined : { from, to };
}
