import { isAskedFor } from '../core/asked-for.ts';
import type { Decision, Hold } from '../core/decision.ts';
import type { Condition } from './rollout-resource.ts';

/** Holds that a person should look at. */
const alarming: ReadonlySet<Hold['rule']> = new Set([
  'SnapshotImpossible',
  'PolicyUnknown',
  'UpdateRevisionFailing',
  'SwitchoverFailing',
  'RevisionFlapping',
  'MemberStuckTerminating',
]);

export const alarms = (hold: Hold): boolean => alarming.has(hold.rule);

/** Whether nothing but a person can end it. */
const stalls = (hold: Hold): boolean => alarms(hold) && !(hold.rule === 'SwitchoverFailing' && hold.retries);

/** `Reconciling`, `Stalled`, `Complete` and `PolicyInForce`: the API, where the phase is a word for people. */
export function conditions(
  before: readonly Condition[],
  { complete }: Decision,
  hold: Hold | null,
  message: string,
  policyInForce: Pick<Condition, 'status' | 'reason' | 'message'>,
  observedGeneration: number,
  nowTimestamp: string,
): readonly Condition[] {
  const stalled = hold !== null && stalls(hold);
  const resting = hold !== null && isAskedFor(hold.rule);
  const reason = hold?.rule ?? (complete ? 'UpToDate' : 'Progressing');
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
    condition('Reconciling', !complete && !stalled && !resting),
    condition('Stalled', stalled),
    condition('Complete', complete),
    one('PolicyInForce', policyInForce),
  ];
}
