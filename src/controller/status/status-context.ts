import type { Intent, RolloutStatus } from '../../api/rollout-status.ts';
import type { Hold } from '../../core/decision.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { type UnreportedStep, unreported } from '../facts/last-step.ts';
import { memberName } from '../facts/member-name.ts';
import type { Observation } from '../pass/observe.ts';
import { shownHold } from './due.ts';

/**
 * What a status is built from: an observation, and the status before it. With an intent, `now` is the intent's time.
 */
export interface StatusContext extends Observation {
  readonly before: RolloutStatus;
  /** The hold that users see, and its sentence. */
  readonly shown: { readonly hold: Hold; readonly message: string } | null;
  /** The step that ended since the status was written. */
  readonly ended: UnreportedStep | null;
  /** The step that is about to be done. */
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
