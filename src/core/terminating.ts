import type { Hold } from './decision.ts';
import type { Member, Situation } from './situation.ts';

/** A kubelet may need 10 s past the grace period, and a watch may report the deletion 20 s late. */
const stuckMarginSeconds = 30;

/** A member is terminating: the first one that is stuck, else the first. */
export function memberTerminating(situation: Situation): Hold | null {
  const terminating = situation.members.filter((member) => member.state === 'terminating');
  const stuck = terminating.map((member) => stuckTerminating(situation, member)).find((hold) => hold !== null);
  if (stuck) return stuck;
  const [first] = terminating;
  return first ? { rule: 'MemberTerminating', member: first.ordinal } : null;
}

/** After its grace period a terminating member is stuck, and only a person can tell why. */
export function stuckTerminating({ deadlines }: Situation, { ordinal, facts }: Member): Hold | null {
  const { terminatingForSeconds, graceSeconds } = facts;
  return terminatingForSeconds !== null && deadlines.reached(terminatingForSeconds, graceSeconds + stuckMarginSeconds)
    ? { rule: 'MemberStuckTerminating', member: ordinal, graceSeconds }
    : null;
}
