import type { RolloutProgress } from '../../api/rollout-status.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import { didNotHappen, type Finished } from './cluster-state.ts';

/** Whether the last step was a demotion that did not happen. */
export const isDemotionMissed = (ended: Finished | null): boolean =>
  ended?.lastStep.step === 'demote' && didNotHappen(ended);

/**
 * Whether the switchover that the status has as requested is over: the demoted member is gone, or another one is the
 * primary. `ended` is the step that ended since the status was written.
 */
export function isSwitchedOver(
  { tries }: Pick<RolloutProgress, 'tries'>,
  ended: Finished | null,
  { pods, cluster }: Pick<ClusterObjects, 'pods' | 'cluster'>,
): boolean {
  if (tries?.askedAt === undefined || isDemotionMissed(ended)) return false;
  const demoted = pods.find((pod) => pod.uid === tries.pod?.uid);
  return demoted === undefined || demoted.ordinal !== cluster.primaryIndex;
}
