import { type EndingClaim, freshSeconds } from './comeback-reading.ts';
import { hasNeverStarted } from './member.ts';
import type { Member, Situation } from './situation.ts';
import type { MemberFacts } from './snapshot.ts';

/**
 * The claims whose data the end of the pod destroys. A pod that has never started mounts nothing: where its claim is
 * missing, the StatefulSet controller makes another one anyway.
 */
export const endingClaims = (facts: MemberFacts): readonly EndingClaim[] =>
  (facts.comeback?.claims ?? []).filter(({ state }) => state === 'terminating' || !hasNeverStarted(facts));

export const explainClaim = ({ name, state }: EndingClaim): string =>
  state === 'terminating'
    ? `its claim ${name} is being deleted and goes with the pod`
    : `its claim ${name} does not exist any more`;

/** While a reading holds a step, it is read again once it is too old. */
export function readAgain({ deadlines }: Situation, { facts: { comeback } }: Member): void {
  if (comeback !== null) deadlines.reached(comeback.ageSeconds, freshSeconds);
}
