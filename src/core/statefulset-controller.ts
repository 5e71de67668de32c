import { isOverdue, isRecovering, somebodyLeads } from './running-members.ts';
import type { Member, Situation } from './situation.ts';

// The StatefulSet controller replaces stale members from the partition up.

/** A partition above the number of replicas is equivalent to one equal to it. */
export function partitionOf({ snapshot, replicas }: Situation): number {
  return Math.min(snapshot.statefulSet?.partition ?? 0, replicas);
}

/** A member that the StatefulSet controller still has to replace. It replaces the highest ordinal first. */
export function notYetReplaced(situation: Situation): Member | null {
  const partition = partitionOf(situation);
  return situation.members.findLast((member) => member.ordinal >= partition && !member.updated) ?? null;
}

/** Below the partition the StatefulSet controller creates pods from the current revision. */
export const comesUpUpdated = ({ currentRevision, updateRevision }: Situation): boolean =>
  currentRevision === updateRevision;

/**
 * The member is down, or has run without participating for longer than a failover takes, while some member serves as
 * primary. Otherwise a failover may be waiting for it.
 */
export function doesNotWork(situation: Situation, member: Member): boolean {
  const { state } = member;
  if (state !== 'running') return state === 'down';
  if (isRecovering(situation, member) || !somebodyLeads(situation, [member])) return false;
  return isOverdue(situation, member);
}
