import type { Hold } from './decision.ts';
import type { Member, Situation } from './situation.ts';

/** What a kubelet may need past the grace period before the pod object goes. */
const stuckMarginSeconds = 10;

/** A member is on its way out: the first one that hangs, else the first. */
export function memberLeaving(situation: Situation): Hold | null {
  const leaving = situation.members.filter((member) => member.state === 'leaving');
  const stuck = leaving.map((member) => stuckTerminating(situation, member)).find((hold) => hold !== null);
  if (stuck) return stuck;
  const [first] = leaving;
  return first ? { rule: 'MemberLeaving', member: first.ordinal } : null;
}

/** Past its grace period a leaving member hangs, and only a person can tell why. */
export function stuckTerminating({ deadlines }: Situation, { ordinal, facts }: Member): Hold | null {
  const { leavingForSeconds, graceSeconds } = facts;
  return leavingForSeconds !== null && deadlines.reached(leavingForSeconds, graceSeconds + stuckMarginSeconds)
    ? { rule: 'MemberStuckTerminating', member: ordinal, graceSeconds }
    : null;
}
