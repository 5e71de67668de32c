import type { Member, Situation } from './situation.ts';

/** A kubelet may need 10 s past the grace period, and a watch may report the deletion 20 s late. */
const stuckMarginSeconds = 30;

export const terminatingMembers = ({ members }: Situation): readonly Member[] =>
  members.filter(({ state }) => state === 'terminating');

/** After its grace period a terminating member is stuck, and only a person can tell why. */
export function isStuckTerminating({ deadlines }: Situation, { facts }: Member): boolean {
  const { terminatingForSeconds, graceSeconds } = facts;
  return terminatingForSeconds !== null && deadlines.reached(terminatingForSeconds, graceSeconds + stuckMarginSeconds);
}
