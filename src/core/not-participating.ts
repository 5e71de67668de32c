import type { Hold } from './decision.ts';
import { rolesMoving } from './demotion.ts';
import { backupRunning, updatedMemberUnsettled } from './gates.ts';
import { creationOutstanding } from './holds.ts';
import { isProtected, memberProtected } from './protected.ts';
import { awaitingRecovery, isRecovering, recoveringRemains } from './recovering.ts';
import type { StepRule } from './rules/steps.ts';
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
import { memberTerminating } from './terminating.ts';

// Due members that do not participate, in the order of the procedure. All of them are deleted, not evicted: a
// PodDisruptionBudget can refuse to evict a pod that is already down.

/**
 * Members that are down do no work, so all of them are deleted at once, except those that MOCO protects. MOCO's
 * clustering, and with it the failover, stops while a pod is missing. So none is deleted while the StatefulSet
 * controller has not created another one again.
 */
export function membersDown(situation: Situation): Outcome | null {
  const down = descending(dueMembers(situation).filter((member) => member.state === 'down' && !isProtected(member)));
  if (down.length === 0) return null;
  const outstanding = creationOutstanding(situation);
  return outstanding ? wait(outstanding) : remove('MemberDown', down);
}

const isLostReplica = (member: Member): boolean =>
  member.state === 'unreachable' && !member.primary && !isProtected(member);

/**
 * mysqld may still serve behind a lost kubelet. So one at a time, never the primary, and only while every other member
 * participates.
 */
export function membersUnreachable(situation: Situation): Outcome | null {
  const lost = descending(dueMembers(situation).filter(isLostReplica));
  const next = lost.find((member) => everyOtherParticipates(situation, member));
  return next ? remove('MemberUnreachable', [next]) : null;
}

/**
 * Replicas become not ready because the primary is gone, and MOCO needs their running mysqld for the failover. Deleting
 * them now would turn a failover into a data loss. A restart may help only if no failover happens in time.
 */
export function primaryUnavailable(situation: Situation): Outcome | null {
  const { primary, replicas, snapshot, policy, deadlines } = situation;
  if (primary?.participates) return null;
  if (replicas === 1) return singleMemberAway(situation);
  const graceSeconds = policy.failoverGraceSeconds;
  const moving = rolesMoving(situation);
  const awaiting: Hold = { rule: 'AwaitingFailover', primary: snapshot.cluster.primaryIndex, graceSeconds };
  if (!deadlines.reached(snapshot.cluster.primaryUnavailableForSeconds ?? 0, graceSeconds)) {
    return wait(moving ?? awaiting);
  }
  const floorless = primary === null || !isConfigured(primary);
  return (
    noMemberParticipating(situation) ??
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
  if (!deadlines.reached(snapshot.cluster.primaryUnavailableForSeconds ?? 0, graceSeconds)) {
    return wait(
      awaitingRecovery(situation, primary) ?? { rule: 'AwaitingRecovery', member: primary.ordinal, graceSeconds },
    );
  }
  const hold = memberProtected(primary) ?? awaitingRecovery(situation, primary);
  return hold ? wait(hold) : remove('PrimaryNotParticipating', [primary]);
}

export function noMemberParticipating(situation: Situation): Outcome | null {
  if (situation.participating > 0) return null;
  const due = dueMembers(situation).filter(
    (member) => member.state !== 'unreachable' && !isProtected(member) && !isRecovering(situation, member),
  );
  return due.length > 0 ? remove('NoMemberParticipating', descending(due)) : null;
}

/** A primary with a dead agent, for example, goes when as many others participate as MOCO's failover needs. */
function runningPrimary(situation: Situation): Outcome | null {
  const { primary, participating, majority } = situation;
  if (primary?.state !== 'running' || !primary.due || participating < majority) return null;
  const hold = memberProtected(primary) ?? awaitingRecovery(situation, primary);
  return hold ? wait(hold) : remove('PrimaryNotParticipating', [primary]);
}

/**
 * Running replicas may still acknowledge commits. So one at a time, and only while the others keep a quorum that can
 * acknowledge.
 */
export function membersRunning(situation: Situation): Outcome | null {
  return replicasRunning(situation, false);
}

const isRunningReplica = (member: Member): boolean =>
  member.state === 'running' && !member.primary && !isProtected(member);

/** `floorless` if the primary has not been able to acknowledge for longer than a failover takes. */
function replicasRunning(situation: Situation, floorless: boolean): Outcome | null {
  const running = unconfiguredFirst(
    dueMembers(situation).filter((member) => isRunningReplica(member) && !isRecovering(situation, member)),
  );
  const [first] = running;
  if (!first) return null;
  const hold = memberTerminating(situation) ?? updatedMemberUnsettled(situation) ?? backupRunning(situation);
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
 * Without this member the primary and enough others acknowledge commits. At first only members that participate count.
 * Once this member has not participated for as long as a failover may take, members that MOCO has configured count as
 * well: a member that is behind looks like one with a broken I/O thread, and waiting forever would be worse. A member
 * without a role was never configured then, and nothing is lost with it: MOCO labels a pod in the pass that configures
 * its mysqld (clustering/operations.go, configure, MOCO 0.36).
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

/** It runs and has MOCO's role label: it acknowledges unless its I/O thread is broken. */
const isConfigured = ({ canAcknowledge, facts }: Member): boolean => canAcknowledge && facts.role !== null;

/** MOCO has never finished with a member without a role, so its restart is the first that may help. */
const unconfiguredFirst = (members: readonly Member[]): readonly Member[] =>
  descending(members).toSorted((a, b) => Number(a.facts.role !== null) - Number(b.facts.role !== null));

/** No member after these may go while they are unavailable, so the rollout waits until MOCO no longer protects them. */
export function protectedRemains(situation: Situation): Outcome | null {
  const next = descending(dueMembers(situation)).find(
    (member) => !member.participates && isProtected(member) && !(member.primary && member.state === 'unreachable'),
  );
  const hold = next ? memberProtected(next) : null;
  return hold ? wait(hold) : null;
}

/** An unreachable member that could not be taken blocks everything after it. */
export function unreachableRemains(situation: Situation): Outcome | null {
  const lost = dueMembers(situation).find((member) => member.state === 'unreachable');
  return lost ? wait({ rule: 'MemberUnreachable', member: lost.ordinal }) : null;
}

export function remove(rule: StepRule, members: readonly Member[]): Outcome {
  return take({ kind: 'delete', rule, targets: members.map(target) });
}
