import { isOverdue, isRecovering, somebodyLeads } from './running-members.ts';
import type { Member, Situation } from './situation.ts';

// Under RollingUpdate, the StatefulSet controller replaces stale members with ordinals from the partition up.

/** The partition, limited to the number of replicas. A higher partition has the same effect. */
export function partitionOf({ snapshot, replicas }: Situation): number {
  return Math.min(snapshot.statefulSet?.partition ?? 0, replicas);
}

/**
 * The next member that the StatefulSet controller still has to replace. The controller replaces the highest ordinal
 * first.
 */
export function notYetReplaced(situation: Situation): Member | null {
  const partition = partitionOf(situation);
  return situation.members.findLast((member) => member.ordinal >= partition && !member.updated) ?? null;
}

/**
 * Whether pods below the partition come up updated. The StatefulSet controller creates them at the current revision.
 */
export const comesUpUpdated = ({ currentRevision, updateRevision }: Situation): boolean =>
  currentRevision === updateRevision;

/**
 * Whether the member is down, or has run without participating for longer than a failover takes while some member
 * serves as primary. If no member serves as primary, a failover may be waiting for this one.
 */
export function doesNotWork(situation: Situation, member: Member): boolean {
  const { state } = member;
  if (state !== 'running') return state === 'down';
  if (isRecovering(situation, member) || !somebodyLeads(situation, [member])) return false;
  return isOverdue(situation, member);
}
