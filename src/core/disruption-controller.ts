import { type Outcome, type Situation, wait } from './situation.ts';

/**
 * So many evictions of the whole fleet may wait for the disruption controller. It has one worker: the next eviction
 * goes when one of them has been observed, so that evictions begin at the rate at which it works.
 */
export const mostUnobservedEvictions = 5;

/** The controller is asked again after so long, should it miss that an eviction has been observed. */
const recheckSeconds = 5;

/**
 * Holds an eviction while the disruption controller is behind. It observes an eviction only while the pod terminates: if
 * it is later than the pod's successor, the budget stays closed for two minutes (docs/decisions/0021).
 */
export function disruptionControllerBehind(
  { snapshot: { budgets, unobservedEvictions }, overridden, deadlines }: Situation,
  outcome: Outcome | null,
): Outcome | null {
  const isBehind = budgets.length > 0 && unobservedEvictions >= mostUnobservedEvictions;
  if (outcome?.step?.kind !== 'evict' || !isBehind || overridden.has('DisruptionControllerBehind')) return outcome;
  deadlines.reached(0, recheckSeconds);
  return wait({
    rule: 'DisruptionControllerBehind',
    evictions: unobservedEvictions,
    limit: mostUnobservedEvictions,
  });
}
