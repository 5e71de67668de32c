import type { LastStep, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import { isAtLeast } from '../../kube/raw-object.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { OwnWrite, StepResult } from '../../objects/execute.ts';

/** A step whose result is not in the status yet. */
export interface UnreportedStep {
  readonly lastStep: LastStep;
  readonly result: StepResult;
  readonly revision: string;
  readonly disrupted: number;
  /** It updated the primary in place, in a cluster that has more than one member. */
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

/** The last result, unless the status already has it: the response to a status write may have been lost. */
export function unreported(
  { lastStep }: RolloutStatus,
  { steps: { unreported: last } }: { readonly steps: { readonly unreported: UnreportedStep | null } },
): UnreportedStep | null {
  const isKnown = last?.lastStep.at === lastStep?.at && last?.lastStep.step === lastStep?.step;
  return isKnown && last?.lastStep.pods.join() === lastStep?.pods.join() ? null : last;
}

/** A demotion that is withdrawn for this reason is a failed switchover. */
export const isFailedTry = (reason: string): boolean => reason === 'TimedOut';

/** Whether the last step was a demotion that did not happen. */
export const isDemotionMissed = (ended: UnreportedStep | null): boolean =>
  ended?.lastStep.step === 'demote' && didNotHappen(ended);

/**
 * Whether the switchover that the status shows as requested is over: the demoted member is gone, or another member is
 * the primary. `ended` is the step that ended since the status was written.
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

/** How often the cache is checked for a write of this process that no watch has delivered. */
export const unseenMilliseconds = 1000;

/** After this time a fresh read decides. Every disruption is preceded by one anyway. */
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
