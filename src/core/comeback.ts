import { hasNeverStarted } from './member.ts';
import type { Member, Situation } from './situation.ts';
import type { MemberFacts } from './snapshot.ts';

/** What was last read about what the end of a member's pod destroys, and whether another pod can take its place. */
export interface Comeback {
  readonly ageSeconds: number;
  /** The claims of its pod that are about to go, or have gone. */
  readonly claims: readonly EndingClaim[];
}

/** A PersistentVolumeClaim that only the pod keeps: its protection ends with the pod (kubernetes.io/pvc-protection). */
export interface EndingClaim {
  readonly name: string;
  /** `terminating`: its deletion has been requested. `missing`: it is gone, and the pod still has the volume mounted. */
  readonly state: 'terminating' | 'missing';
}

/** An older reading allows no step. Right before the step what can change is read again. */
const freshSeconds = 60;

/** A reading that grows old changes nothing by itself, so it sets no deadline: it is read once a step needs it. */
export const hasToBeRead = ({ comeback }: MemberFacts): boolean =>
  comeback === null || !(comeback.ageSeconds < freshSeconds);

/** While a reading holds a step, it is read again when it is too old. */
export function readAgain({ deadlines }: Situation, { facts: { comeback } }: Member): void {
  if (comeback !== null) deadlines.reached(comeback.ageSeconds, freshSeconds);
}

/**
 * The claims whose data the end of the pod destroys. A pod that has never started mounts nothing: where its claim is
 * missing, the StatefulSet controller makes another one anyway.
 */
export const endingClaims = ({ facts }: Member): readonly EndingClaim[] =>
  (facts.comeback?.claims ?? []).filter(({ state }) => state === 'terminating' || !hasNeverStarted(facts));
