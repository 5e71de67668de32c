import type { Hold } from '../../core/decision.ts';
import { isBrief, isRoutine } from '../../core/rules/catalogue.ts';

/** How long a brief hold is hidden, so that users see only waits that matter. */
export const shownAfterSeconds = 10;

/** Waits that occur in every step have an Event only if they take long: the step has an Event already. */
const longStepSeconds = 60;

/** After how many seconds a hold gets an Event, if it gets one at all. */
export const reportedAfterSeconds = ({ rule }: Hold): number => (isRoutine(rule) ? longStepSeconds : 0);

/** Whether a hold that has lasted this long is shown to users. */
export function isShown(hold: Hold, heldForSeconds: number): boolean {
  if (heldForSeconds >= shownAfterSeconds) return true;
  if (hold.rule === 'BlockedByPDB') return hold.cause === 'closed' || hold.cause === 'several';
  return !isBrief(hold.rule);
}
