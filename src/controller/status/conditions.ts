import type { Condition } from '../../api/rollout-status.ts';
import type { Hold } from '../../core/decision.ts';
import { isAlarming, isForOthers, isRequestedByUser, isRoutine } from '../../core/rules/catalogue.ts';
import { conditionsAfter, policyInForce } from '../facts/policy-in-force.ts';
import type { StatusContext } from './status-context.ts';

const stalls = (hold: Hold): boolean => isAlarming(hold.rule) && !(hold.rule === 'SwitchoverFailing' && hold.retries);

/**
 * Whether a user requested the wait. That is possible even while members are stale. A wait for other clusters does not
 * count, because a rollout that waits for them is in progress.
 */
const isRequestedWait = ({ rule }: Hold): boolean => isRequestedByUser(rule) && !isForOthers(rule);

/** The reason of condition `Stalled` if no rule explains why the rollout is stalled. */
const deadlineExceeded = 'ProgressDeadlineExceeded';

/**
 * The conditions are the API of a MySQLRollout; the phase is only for people. `Ready` is True if the rollout is
 * complete. `Reconciling` and `Stalled` follow kstatus, and at most one of them is True. A rollout that makes progress
 * without help is reconciling. A rollout that cannot progress, or has not progressed for progressDeadlineSeconds, is
 * stalled. A rollout that waits at a user's request is neither. `PolicyInForce` is True if every setting has an effect.
 */
export function conditions(context: StatusContext): readonly Condition[] {
  const { rollout, decision, shown, now } = context;
  const { complete, progressDeadlineExceeded } = decision;
  const { hold = null, message = '' } = shown ?? {};
  const stalledBy = hold !== null && stalls(hold) ? hold.rule : progressDeadlineExceeded ? deadlineExceeded : null;
  const waitsOnRequest = hold !== null && isRequestedWait(hold);
  const waitsFor = hold === null || isRoutine(hold.rule) ? null : hold.rule;
  const reason = stalledBy ?? waitsFor ?? (complete ? 'UpToDate' : 'Progressing');
  const one = conditionsAfter(rollout?.status?.conditions, rollout?.metadata.generation ?? 0, now);
  const condition = (type: string, is: boolean): Condition =>
    one(type, { status: is ? 'True' : 'False', reason, message });
  return [
    condition('Ready', complete),
    condition('Reconciling', !complete && stalledBy === null && !waitsOnRequest),
    condition('Stalled', stalledBy !== null),
    one('PolicyInForce', policyInForce(context)),
  ];
}
