import { isAskedFor } from '../core/asked-for.ts';
import type { Decision, Hold, HoldRule } from '../core/decision.ts';
import type { Condition } from './rollout-resource.ts';

/** Holds that a person should look at. */
const alarming: ReadonlySet<HoldRule> = new Set([
  'SnapshotImpossible',
  'RolloutNotOwned',
  'RolloutTerminating',
  'DefinitionOutdated',
  'PolicyUnknown',
  'HandBackUnsafe',
  'MemberDownOutOfTurn',
  'UpdateRevisionFailing',
  'SwitchoverFailing',
  'RevisionFlapping',
  'MemberStuckTerminating',
  'StepRefused',
]);

export const alarms = ({ rule }: Pick<Hold, 'rule'>): boolean => alarming.has(rule);

/** Whether nothing but a person can end it. */
const stalls = (hold: Hold): boolean => alarms(hold) && !(hold.rule === 'SwitchoverFailing' && hold.retries);

/** Whether it is as somebody wants it, however stale. A place in a queue is nobody's aim: that one is on its way. */
const rests = ({ rule }: Hold): boolean =>
  isAskedFor(rule) && rule !== 'AwaitingFleetSlot' && rule !== 'AwaitingFleetInterval';

/** Why a rollout counts as stalled that no rule calls so. */
export const deadlineExceeded = 'ProgressDeadlineExceeded';

/**
 * `Reconciling`, `Stalled`, `Complete` and `PolicyInForce`: the API, where the phase is a word for people. The first two
 * are those of kstatus, at most one of which is True: what goes on by itself is reconciling; what can't, or has not for
 * progressDeadlineSeconds, is stalled; what is as somebody wants it is neither.
 */
export function conditions(
  before: readonly Condition[],
  { complete, progressDeadlineExceeded }: Decision,
  hold: Hold | null,
  message: string,
  policyInForce: Pick<Condition, 'status' | 'reason' | 'message'>,
  observedGeneration: number,
  nowTimestamp: string,
): readonly Condition[] {
  const stalledBy = hold !== null && stalls(hold) ? hold.rule : progressDeadlineExceeded ? deadlineExceeded : null;
  const resting = hold !== null && rests(hold);
  const reason = stalledBy ?? hold?.rule ?? (complete ? 'UpToDate' : 'Progressing');
  const one = (type: string, said: Pick<Condition, 'status' | 'reason' | 'message'>): Condition => {
    const { status } = said;
    const known = before.find((candidate) => candidate.type === type);
    return {
      type,
      ...said,
      lastTransitionTime: known?.status === status ? known.lastTransitionTime : nowTimestamp,
      observedGeneration,
    };
  };
  const condition = (type: string, is: boolean): Condition =>
    one(type, { status: is ? 'True' : 'False', reason, message });
  return [
    condition('Reconciling', !complete && stalledBy === null && !resting),
    condition('Stalled', stalledBy !== null),
    condition('Complete', complete),
    one('PolicyInForce', policyInForce),
  ];
}
