import type { Hold } from './decision.ts';
import type { Member } from './situation.ts';

/**
 * The pod carries MOCO's annotation `prevent-delete`. MOCO sets it on the primary while a replica lags, takes it off every
 * pod once none does, and leaves it on a primary that a failover makes a replica in between (clustering/operations.go,
 * addAnnPreventDelete and removeAnnPreventDelete, MOCO 0.36). Its admission policy then refuses every DELETE of the pod.
 * Eviction is not refused, but the DELETE with which the kubelet ends it is, so the pod stays in Terminating.
 */
export const isProtected = ({ facts }: Member): boolean => facts.preventDelete;

export function memberProtected(member: Member): Hold | null {
  return isProtected(member) ? { rule: 'MemberProtected', member: member.ordinal } : null;
}
