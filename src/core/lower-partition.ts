import { awaitingApproval } from './approval.ts';
import type { Hold } from './decision.ts';
import { foreignDemote, rolesMoving } from './demotion.ts';
import { backupRunning, closedGate, maxUnavailableReached, updatedMemberUnsettled } from './gates.ts';
import { memberProtected } from './protected.ts';
import { awaitingRecovery, isRecovering } from './recovering.ts';
import { everyOtherParticipates, type Member, type Outcome, type Situation, take, target, wait } from './situation.ts';
import { memberTerminating } from './terminating.ts';

/**
 * Partition mode: the StatefulSet controller replaces stale members from the partition up, and this program lowers the
 * partition by one when the member below it may go. The gates are those of OnDelete.
 */
export function lowerPartition(situation: Situation): Outcome | null {
  const { policy } = situation;
  if (isDone(situation)) return null;
  const partition = partitionOf(situation);
  if (!(partition - 1 >= policy.partition)) return null;
  const next = situation.members.find(({ ordinal }) => ordinal === partition - 1);
  if (!next) return null;
  if (next.updated) return lower(partition, next, []);
  if (next.pinned) return wait({ rule: 'PartitionReached', partition, members: [], pinned: [next.ordinal] });
  const hold =
    rolesMoving(situation) ??
    foreignDemote(situation) ??
    memberTerminating(situation) ??
    notYetReplaced(situation) ??
    downOutOfOrder(situation, next) ??
    gateOf(situation, next) ??
    backupRunning(situation) ??
    memberProtected(next) ??
    awaitingRecovery(situation, next) ??
    (next.primary ? awaitingApproval(situation, next) : null);
  return hold ? wait(hold) : lower(partition, next, [next]);
}

/**
 * No member is stale, and none would come up stale: below the partition pods are created from the current revision.
 * Then the partition may stay where it is, and every write of MOCO sets it back to the top.
 */
function isDone({ members, snapshot }: Situation): boolean {
  const { statefulSet } = snapshot;
  return members.every((member) => member.updated) && statefulSet?.currentRevision === statefulSet?.updateRevision;
}

/** A partition above the number of replicas means the same as one equal to it. */
export function partitionOf({ snapshot, replicas }: Situation): number {
  return Math.min(snapshot.statefulSet?.partition ?? 0, replicas);
}

function doesNotWork(situation: Situation, member: Member): boolean {
  const { policy, deadlines } = situation;
  const { state, facts } = member;
  if (state !== 'running') return state === 'down';
  if (isRecovering(situation, member)) return false;
  return facts.containers.some(
    ({ part, notReadyForSeconds }) =>
      part === 'mysqld' && deadlines.reached(notReadyForSeconds, policy.failoverGraceSeconds),
  );
}

/**
 * A stale member below the next one is down, or has run without serving for longer than a failover takes. Partitions
 * can't take it first, and no other member is taken before it is back. If a person deletes it, it comes up at the
 * StatefulSet's current revision.
 */
export function downOutOfOrder(situation: Situation, next: Member): Hold | null {
  const { members, snapshot } = situation;
  const down = members.find((member) => !member.updated && member !== next && doesNotWork(situation, member));
  if (!down) return null;
  const { revision } = down.facts;
  const current = snapshot.statefulSet?.currentRevision ?? '';
  return {
    rule: 'MemberDownOutOfOrder',
    member: down.ordinal,
    pod: down.facts.name,
    next: next.ordinal,
    revision,
    current,
  };
}

/**
 * The update may repair a member that does not work, so `Healthy` and the PodDisruptionBudget are not checked for it.
 */
function gateOf(situation: Situation, next: Member): Hold | null {
  if (next.state === 'participating') return updatedMemberUnsettled(situation) ?? closedGate(situation);
  return everyOtherParticipates(situation, next) ? null : maxUnavailableReached(situation, 1);
}

/** The StatefulSet controller has members to replace from the partition up. It takes the highest ordinal next. */
export function notYetReplaced(situation: Situation): Hold | null {
  const { members } = situation;
  const partition = partitionOf(situation);
  const behind = members.findLast((member) => member.ordinal >= partition && !member.updated);
  return behind ? { rule: 'UpdatedMemberNotParticipating', member: behind.ordinal, wait: { for: 'revision' } } : null;
}

function lower(partition: number, next: Member, disrupted: readonly Member[]): Outcome {
  const rule = next.updated
    ? 'AlreadyUpdated'
    : next.state === 'participating'
      ? 'ReplicaHealthy'
      : next.state === 'impaired'
        ? 'MemberImpaired'
        : 'MemberNotParticipating';
  return take({ kind: 'setPartition', rule, partition: partition - 1, targets: disrupted.map(target) });
}
