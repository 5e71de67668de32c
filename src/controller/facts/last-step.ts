import type { RolloutProgress } from '../../api/rollout-progress.ts';
import type { LastStep, RolloutStatus } from '../../api/rollout-status.ts';
import { isAtLeast } from '../../kube/raw-object.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { OwnWrite, StepResult } from '../../objects/execute.ts';

/** A step with a result that is not in the status yet. */
export interface UnreportedStep {
  readonly lastStep: LastStep;
  readonly result: StepResult;
  readonly revision: string;
  readonly disrupted: number;
  /** Whether the step was an update in place of a primary that has replicas. Such an update avoids a switchover. */
  readonly sparesSwitchover: boolean;
  /**
   * Whether a demotion was requested or withdrawn. Withdrawing a demotion after its timeout counts as a failed attempt;
   * withdrawing it for another reason does not.
   */
  readonly demotion:
    | { readonly askedAt: string; readonly pod: { name: string; uid: string } }
    | 'timedOut'
    | 'takenBack'
    | null;
}

export const didNotHappen = ({ result }: UnreportedStep): boolean => result === 'refused' || result === 'conflict';

/** The last result, unless the status already contains it: the response to a status write may have been lost. */
export function unreported(
  { lastStep }: RolloutStatus,
  { steps: { unreported: last } }: { readonly steps: { readonly unreported: UnreportedStep | null } },
): UnreportedStep | null {
  const isKnown = last?.lastStep.at === lastStep?.at && last?.lastStep.step === lastStep?.step;
  return isKnown && last?.lastStep.pods.join() === lastStep?.pods.join() ? null : last;
}

/** A demotion that is withdrawn for this reason is a failed switchover. */
export const isFailedTry = (reason: string): boolean => reason === 'TimedOut';

/** Whether the last step was a demotion that failed. */
export const isDemotionMissed = (ended: UnreportedStep | null): boolean =>
  ended?.lastStep.step === 'demote' && didNotHappen(ended);

/**
 * Whether a switchover that the status still shows as requested has ended: the demoted member is gone, or a different
 * member is the primary. `ended` is the step that ended after the status was written.
 */
export function isSwitchedOver(
  { tries }: Pick<RolloutProgress, 'tries'>,
  ended: UnreportedStep | null,
  { pods, cluster }: Pick<ClusterObjects, 'pods' | 'cluster'>,
): boolean {
  if (tries?.askedAt === undefined || isDemotionMissed(ended)) return false;
  const demoted = pods.find((pod) => pod.uid === tries.pod?.uid);
  return demoted === undefined || demoted.ordinal !== cluster.primaryIndex;
}

/** How often to check the cache for a write of this process that no watch has delivered yet. */
export const unseenMilliseconds = 1000;

/** After this time the next step is decided anyway. That is safe, because a fresh read precedes every disruption. */
const patienceMilliseconds = 30_000;

export function unseen(
  writes: readonly OwnWrite[],
  { pods, statefulSet }: ClusterObjects,
  nowMilliseconds: number,
): readonly OwnWrite[] {
  return writes.filter(({ uid, expected, sinceMilliseconds }) => {
    if (nowMilliseconds - sinceMilliseconds > patienceMilliseconds) return false;
    const pod = pods.find((candidate) => candidate.uid === uid);
    const object = pod ?? (statefulSet?.uid === uid ? statefulSet : undefined);
    if (object === undefined) return false;
    if (expected === 'gone') return pod?.deletionTimestamp === null;
    return !isAtLeast(object.resourceVersion, expected.resourceVersion);
  });
}
