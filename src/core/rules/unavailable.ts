import type { Member, Situation } from '../situation.ts';
import { type Asked, asksFor } from './rule.ts';

/**
 * Members that are unavailable for any reason other than the step. An updated member is unavailable until it is
 * settled.
 */
export function unavailableMembers(asked: Asked): readonly number[] {
  const { situation, members: taken } = asked;
  const others = situation.members.filter((member) => !taken.includes(member));
  // An impaired replica matters more than the other members' settling, and MOCO's partition controller does not check
  // it.
  const settled = taken.some(({ state, primary }) => state !== 'impaired' || primary) && !asksFor(asked, 'mocoTakes');
  const away = others.filter((member) => !member.participates || (settled && member.unsettled !== null));
  return [...situation.missing, ...away.map(({ ordinal }) => ordinal)];
}

/**
 * How many unavailable members block the step. All other members have to be available, whatever the budget, when
 * containers restart in place, when the replaced member does not count as available itself, and when the primary moves:
 * MOCO might choose a terminating member and would have to switch over again.
 */
export function unavailableLimit({ situation, step, members }: Asked): number {
  const isPlain = step.kind === 'evict' || step.kind === 'setPartition';
  return isPlain && members.every((member) => member.state === 'participating' && !leads(situation, member.ordinal))
    ? situation.budget
    : 1;
}

const leads = ({ snapshot, policy }: Situation, ordinal: number): boolean =>
  policy.mode === 'MOCO' || ordinal === snapshot.cluster.primaryIndex;

/** A terminating member uses its share of the budget. A member has a share only if it participates. */
export function isTerminationAwaited(asked: Asked): boolean {
  return !asksFor(asked, 'reduces') || unavailableMembers(asked).length >= unavailableLimit(asked);
}

/** A kubelet may need 10 s beyond the grace period, and a watch may report the deletion 20 s late. */
const stuckMarginSeconds = 30;

export const terminatingMembers = ({ members }: Situation): readonly Member[] =>
  members.filter(({ state }) => state === 'terminating');

/** A member that is still terminating after its grace period is stuck, and only a person can find out why. */
export function isStuckTerminating({ deadlines }: Situation, { facts }: Member): boolean {
  const { terminatingForSeconds, graceSeconds } = facts;
  return terminatingForSeconds !== null && deadlines.reached(terminatingForSeconds, graceSeconds + stuckMarginSeconds);
}
