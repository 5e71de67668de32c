import type { Member, Situation } from '../situation.ts';
import { type Asked, asksFor } from './rule.ts';

/**
 * Members that are unavailable for a reason other than the step. An updated member is unavailable until it has settled.
 */
export function unavailableMembers(asked: Asked): readonly number[] {
  const { situation, members: taken } = asked;
  const others = situation.members.filter((member) => !taken.includes(member));
  // An impaired replica is repaired without waiting until other members have settled. MOCO's partition controller does
  // the same.
  const settled = taken.some(({ state, primary }) => state !== 'impaired' || primary) && !asksFor(asked, 'mocoTakes');
  const away = others.filter((member) => !member.participates || (settled && member.unsettled !== null));
  return [...situation.missing, ...away.map(({ ordinal }) => ordinal)];
}

/**
 * The number of unavailable members at which the step is blocked. Three kinds of steps need all other members, whatever
 * the budget: a restart of containers in place, the replacement of a member that does not count as available itself,
 * and a switchover, because MOCO might choose a terminating member and have to switch over again.
 */
export function unavailableLimit({ situation, step, members }: Asked): number {
  const isPlain = step.kind === 'evict' || step.kind === 'setPartition';
  return isPlain && members.every((member) => member.state === 'participating' && !leads(situation, member.ordinal))
    ? situation.budget
    : 1;
}

const leads = ({ snapshot, policy }: Situation, ordinal: number): boolean =>
  policy.mode === 'MOCO' || ordinal === snapshot.cluster.primaryIndex;

/**
 * Whether the step waits for a terminating member. That member uses up part of maxUnavailable, which matters only to a
 * step that makes a participating member unavailable.
 */
export function isTerminationAwaited(asked: Asked): boolean {
  return !asksFor(asked, 'reduces') || unavailableMembers(asked).length >= unavailableLimit(asked);
}

/** The kubelet may need 10 s more than the grace period, and a watch may report the deletion 20 s late. */
const stuckMarginSeconds = 30;

export const terminatingMembers = ({ members }: Situation): readonly Member[] =>
  members.filter(({ state }) => state === 'terminating');

/** A member that is still terminating after this time is stuck, and only a person can find out why. */
export function isStuckTerminating({ deadlines }: Situation, { facts }: Member): boolean {
  const { terminatingForSeconds, graceSeconds } = facts;
  return terminatingForSeconds !== null && deadlines.reached(terminatingForSeconds, graceSeconds + stuckMarginSeconds);
}
