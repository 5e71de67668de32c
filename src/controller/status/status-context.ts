import type { Intent, RolloutStatus } from '../../api/rollout-status.ts';
import type { Hold } from '../../core/decision.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { type UnreportedStep, unreported } from '../facts/last-step.ts';
import { memberName } from '../facts/member-name.ts';
import type { Observation } from '../pass/observe.ts';
import { shownHold } from './due.ts';

/**
 * The inputs of a status: an observation, and the stored status. If there is an intent, `now` is the time of the
 * intent.
 */
export interface StatusContext extends Observation {
  readonly before: RolloutStatus;
  /** The hold that users see, and its message. */
  readonly shown: { readonly hold: Hold; readonly message: string } | null;
  /** The step that has ended since the status was written. */
  readonly ended: UnreportedStep | null;
  /** The step that is about to be performed. */
  readonly intent: Intent | null;
  /** An earlier step that may still happen. */
  readonly unresolved: Intent | null;
}

export function statusContextOf(observation: Observation, intent: Intent | null): StatusContext {
  const { rollout, memory } = observation;
  const before = rollout?.status ?? {};
  const hold = shownHold(observation);
  const isSettled = before.intent?.id === memory.steps.settledIntent;
  return {
    ...observation,
    now: intent?.at ?? observation.now,
    before,
    shown: hold && { hold, message: explainHold(hold, memberName(observation)) },
    ended: unreported(before, memory),
    intent,
    unresolved: isSettled ? null : (before.intent ?? null),
  };
}
