import type { Hold, StepRule } from './decision.ts';
import { rolesMoving } from './demotion.ts';
import { backupRunning, updatedMemberOwes } from './gates.ts';
import { creationOutstanding } from './holds.ts';
import { memberLeaving } from './leaving.ts';
import { isProtected, memberProtected } from './protected.ts';
import { awaitingRecovery, isRecovering, recoveringRemains } from './recovering.ts';
import {
  descending,
  dueMembers,
  everyOtherParticipates,
  type Member,
  type Outcome,
  type Situation,
  take,
  target,
  wait,
} from './situation.ts';

// Due members that do not participate, in the order in which they are asked about. All of them go by delete: a
// PodDisruptionBudget may refuse to evict a pod that is down already.

/**
 * They do no work, so nothing is lost while they restart: all of them at once, but for those that MOCO protects. But MOCO's
 * clustering stops while a pod is missing, and with it the failover. So none is deleted while the StatefulSet has still to
 * make another one again.
 */
export function membersDown(situation: Situation): Outcome | null {
  const down = descending(dueMembers(situation).filter((member) => member.state === 'down' && !isProtected(member)));
  if (down.length === 0) return null;
  const outstanding = creationOutstanding(situation);
  return outstanding ? wait(outstanding) : remove('MemberDown', down);
}

const isLostReplica = (member: Member): boolean =>
  member.state === 'unreachable' && !member.primary && !isProtected(member);

/** mysqld may still serve behind a lost kubelet: one at a time, never the primary, and only from a full house. */
export function membersUnreachable(situation: Situation): Outcome | null {
  const lost = descending(dueMembers(situation).filter(isLostReplica));
  const next = lost.find((member) => everyOtherParticipates(situation, member));
  return next ? remove('MemberUnreachable', [next]) : null;
}

/**
 * Replicas turn not ready because the primary is gone, and MOCO needs their mysqld running to fail over: deleting
 * them now would turn a failover into a loss. Only when none comes within its time may a restart be the cure.
 */
export function primaryAway(situation: Situation): Outcome | null {
  const { primary, replicas, snapshot, policy, deadlines } = situation;
  if (primary?.participates) return null;
  if (replicas === 1) return singleMemberAway(situation);
  const graceSeconds = policy.failoverGraceSeconds;
  const moving = rolesMoving(situation);
  const awaiting: Hold = { rule: 'AwaitingFailover', primary: snapshot.cluster.primaryIndex, graceSeconds };
  if (!deadlines.reached(snapshot.cluster.primaryAwayForSeconds ?? 0, graceSeconds)) {
    return wait(moving ?? awaiting);
  }
  const floorless = primary === null || !isConfigured(primary);
  return (
    nobodyParticipates(situation) ??
    (moving ? wait(moving) : null) ??
    runningPrimary(situation) ??
    replicasRunning(situation, floorless) ??
    protectedRemains(situation) ??
    recoveringRemains(situation) ??
    wait(awaiting)
  );
}

function singleMemberAway(situation: Situation): Outcome | null {
  const { primary, policy, snapshot, deadlines } = situation;
  if (primary?.state !== 'running' || !primary.due) return null;
  const graceSeconds = policy.failoverGraceSeconds;
  if (!deadlines.reached(snapshot.cluster.primaryAwayForSeconds ?? 0, graceSeconds)) {
    return wait(
      awaitingRecovery(situation, primary) ?? { rule: 'AwaitingRecovery', member: primary.ordinal, graceSeconds },
    );
  }
  const hold = memberProtected(primary) ?? awaitingRecovery(situation, primary);
  return hold ? wait(hold) : remove('PrimaryNotParticipating', [primary]);
}

export function nobodyParticipates(situation: Situation): Outcome | null {
  if (situation.participating > 0) return null;
  const due = dueMembers(situation).filter(
    (member) => member.state !== 'unreachable' && !isProtected(member) && !isRecovering(situation, member),
  );
  return due.length > 0 ? remove('NobodyParticipates', descending(due)) : null;
}

/** A primary with a dead agent, say, goes when as many others participate as MOCO's failover needs. */
function runningPrimary(situation: Situation): Outcome | null {
  const { primary, participating, majority } = situation;
  if (primary?.state !== 'running' || !primary.due || participating < majority) return null;
  const hold = memberProtected(primary) ?? awaitingRecovery(situation, primary);
  return hold ? wait(hold) : remove('PrimaryNotParticipating', [primary]);
}

/** Running replicas may still acknowledge commits: one at a time, and only those whose going leaves a quorum that can. */
export function membersRunning(situation: Situation): Outcome | null {
  return replicasRunning(situation, false);
}

const isRunningReplica = (member: Member): boolean =>
  member.state === 'running' && !member.primary && !isProtected(member);

/** `floorless` where the primary has been unable to acknowledge for longer than a failover takes. */
function replicasRunning(situation: Situation, floorless: boolean): Outcome | null {
  const running = unconfiguredFirst(
    dueMembers(situation).filter((member) => isRunningReplica(member) && !isRecovering(situation, member)),
  );
  const [first] = running;
  if (!first) return null;
  const hold = memberLeaving(situation) ?? updatedMemberOwes(situation) ?? backupRunning(situation);
  if (hold) return wait(hold);
  const next = running.find((member) => floorless || !member.canAcknowledge || leavesQuorum(situation, member));
  if (next) return remove('MemberNotParticipating', [next]);
  const { majority } = situation;
  return wait({
    rule: 'NotEnoughAcknowledging',
    member: first.ordinal,
    others: othersThatAcknowledge(situation, first, isOverdue(situation, first)),
    needed: majority,
  });
}

/**
 * Without this member the primary and enough others acknowledge commits. At first only those that participate are known
 * to. When this one has not for as long as a failover may take, those that MOCO has configured count as well, since one
 * that is behind looks like one whose I/O thread is broken, and waiting for ever would be worse. One without a role was
 * then never configured, and nothing is lost with it: MOCO labels a pod in the pass in which it configures its mysqld
 * (clustering/operations.go, configure, MOCO 0.36).
 */
function leavesQuorum(situation: Situation, member: Member): boolean {
  const { primary, majority } = situation;
  const overdue = isOverdue(situation, member);
  if (overdue && member.facts.role === null) return true;
  return primary !== null && counts(primary, overdue) && othersThatAcknowledge(situation, member, overdue) >= majority;
}

function isOverdue({ policy, deadlines }: Situation, { facts }: Member): boolean {
  const mysqld = facts.containers.find(({ part }) => part === 'mysqld');
  return mysqld !== undefined && deadlines.reached(mysqld.notReadyForSeconds, policy.failoverGraceSeconds);
}

function othersThatAcknowledge({ members }: Situation, member: Member, overdue: boolean): number {
  return members.filter((other) => other !== member && counts(other, overdue)).length;
}

const counts = (member: Member, overdue: boolean): boolean =>
  member.canAcknowledge && (member.participates || (overdue && member.facts.role !== null));

/** It runs and carries MOCO's role label: it acknowledges unless its I/O thread is broken. */
const isConfigured = ({ canAcknowledge, facts }: Member): boolean => canAcknowledge && facts.role !== null;

/** MOCO has never finished with a member that has no role, so it is the first whose restart may help. */
const unconfiguredFirst = (members: readonly Member[]): readonly Member[] =>
  descending(members).toSorted((a, b) => Number(a.facts.role !== null) - Number(b.facts.role !== null));

/** Nobody after these may go while they are away, so the rollout waits for MOCO to let go of them. */
export function protectedRemains(situation: Situation): Outcome | null {
  const next = descending(dueMembers(situation)).find(
    (member) => !member.participates && isProtected(member) && !(member.primary && member.state === 'unreachable'),
  );
  const hold = next ? memberProtected(next) : null;
  return hold ? wait(hold) : null;
}

/** The last word of this part: one that could not be taken shows why nothing after it is asked. */
export function unreachableRemains(situation: Situation): Outcome | null {
  const lost = dueMembers(situation).find((member) => member.state === 'unreachable');
  return lost ? wait({ rule: 'MemberUnreachable', member: lost.ordinal }) : null;
}

export function remove(rule: StepRule, members: readonly Member[]): Outcome {
  return take({ kind: 'delete', rule, targets: members.map(target) });
}
