import type { RolloutStatus } from '../../api/rollout-status.ts';
import type { Step } from '../../core/decision.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { ClusterSnapshot, StatefulSetFacts } from '../../core/snapshot.ts';

/**
 * A current revision that a release replaced is remembered until Kubernetes has observed the released StatefulSet.
 * After that no earlier sync of the StatefulSet controller can overwrite the revision.
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
 * What must be stored before a release replaces the current revision, so that a successor can complete it after a
 * crash. Empty if there is nothing to store, or if it is stored already.
 */
export function promotionToRemember(
  { snapshot, policy }: { readonly snapshot: ClusterSnapshot; readonly policy: RolloutPolicy },
  step: Step,
): RolloutStatus['promotion'] {
  const { statefulSet, promotion, released } = snapshot;
  if (step.kind !== 'promoteRevision' || !statefulSet?.labelled) return undefined;
  if (policy.mode === 'OnDelete' && !released) return undefined;
  const { currentRevision: from } = statefulSet;
  const to = step.revision;
  return promotion?.from === from && promotion.to === to ? undefined : { from, to };
}
