import type { Step } from './decision.ts';
import type { Member, Situation } from './situation.ts';
import { restartsNothing } from './update-in-place.ts';

/**
 * The members that the step takes although they may work; none if the step takes no member, or only repairs. Windows
 * and checks protect these.
 */
export function takenAtWork(situation: Situation, step: Step | null): readonly Member[] {
  if (step === null || !('targets' in step) || step.kind === 'undemote') return [];
  if (restartsNothing(step)) return [];
  const ordinals = step.targets.map(({ ordinal }) => ordinal);
  const taken = situation.members.filter(({ ordinal }) => ordinals.includes(ordinal));
  // Without a primary writes have stopped, and every step is a repair.
  return taken.every(isBroken) || !situation.primary?.participates ? [] : taken;
}

/** It does no work and does not come back by itself, unlike a member that only lags behind. */
const isBroken = ({ state, participates, crashLoop }: Member): boolean =>
  state === 'down' || (!participates && crashLoop !== null);
