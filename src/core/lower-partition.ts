import { awaitingApproval } from './approval.ts';
import type { Hold } from './decision.ts';
import { foreignDemote, rolesMoving } from './demotion.ts';
import { backupRunning, budgetUsed, closedGate, updatedMemberOwes } from './gates.ts';
import { memberLeaving } from './leaving.ts';
import { memberProtected } from './protected.ts';
import { awaitingRecovery, isRecovering } from './recovering.ts';
import { everyOtherParticipates, type Member, type Outcome, type Situation, take, target, wait } from './situation.ts';

/**
 * Partition mode: the StatefulSet's own rolling update replaces what is stale from its partition up, and this program
 * lowers the partition by one when the member below it may go. The gates are those of the other mode.
 */
export function lowerPartition(situation: Situation): Outcome | null {
  const { policy } = situation;
  if (isDone(situation)) return null;
  const partition = partitionOf(situation);
  if (!(partition - 1 >= policy.partition)) return null;
  const next = situation.members.find(({ ordinal }) => ordinal === partition - 1);
  if (!next) return null;
  if (next.updated) return lower(partition, next, []);
  if (next.held) return wait({ rule: 'PartitionReached', partition, members: [], held: [next.ordinal] });
  const hold =
    rolesMoving(situation) ??
    foreignDemote(situation) ??
    memberLeaving(situation) ??
    notYetReplaced(situation) ??
    downOutOfTurn(situation, next) ??
    gateOf(situation, next) ??
    backupRunning(situation) ??
    memberProtected(next) ??
    awaitingRecovery(situation, next) ??
    (next.primary ? awaitingApproval(situation, next) : null);
  return hold ? wait(hold) : lower(partition, next, [next]);
}

/**
 * Nobody is stale, and nobody would come up stale: below the partition pods are made from the current revision. The
 * partition may stay where it is then, which every write of MOCO's sets back to the top.
 */
function isDone({ members, snapshot }: Situation): boolean {
  const { statefulSet } = snapshot;
  return members.every((member) => member.updated) && statefulSet?.currentRevision === statefulSet?.updateRevision;
}

/** A partition beyond the last member means as much as one just there. */
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
 * A stale member below the next one is down, or has run for longer than a failover may take without serving. Its turn
 * comes last, and nobody's comes before it is back: partitions have no way to take it first. Deleted by a person it comes
 * up at the StatefulSet's current revision.
 */
export function downOutOfTurn(situation: Situation, next: Member): Hold | null {
  const { members, snapshot } = situation;
  const down = members.find((member) => !member.updated && member !== next && doesNotWork(situation, member));
  if (!down) return null;
  const { revision } = down.facts;
  const current = snapshot.statefulSet?.currentRevision ?? '';
  return {
    rule: 'MemberDownOutOfTurn',
    member: down.ordinal,
    pod: down.facts.name,
    next: next.ordinal,
    revision,
    current,
  };
}

/** The update may be what repairs a member that does not work: neither MOCO's word nor the budget is asked for it. */
function gateOf(situation: Situation, next: Member): Hold | null {
  if (next.state === 'participating') return updatedMemberOwes(situation) ?? closedGate(situation);
  return everyOtherParticipates(situation, next) ? null : budgetUsed(situation, 1);
}

/** The StatefulSet has still work to do from the partition up: the highest ordinal is the one that it takes next. */
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
