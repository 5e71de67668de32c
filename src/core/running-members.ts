import { mysqldOf } from './member.ts';
import { unreachedPrimary } from './moco-state.ts';
import { isKnownToLack } from './replicas-behind.ts';
import type { Member, Situation } from './situation.ts';

// Which members acknowledge commits. Only MySQL itself can distinguish a replica that is behind from a replica with a
// broken I/O thread.

/**
 * Whether the primary and enough other members acknowledge commits without this member. At first only participating
 * members count. Once this member has not participated for as long as a failover may take, members that MOCO has
 * configured count as well. They may be behind or have a broken I/O thread, which looks the same, but waiting forever
 * would be worse. If the member has probably never followed the primary, replacing it loses little.
 */
export function leavesQuorum(situation: Situation, member: Member): boolean {
  if (!member.canAcknowledge) return true;
  const { primary, majority } = situation;
  if (isOverdue(situation, member) && hasNeverFollowed(situation, member)) return true;
  if (primaryLeadsNobody(situation)) return true;
  return primary !== null && counts(situation, primary, member) && othersThatAcknowledge(situation, member) >= majority;
}

/** How many other members are known to acknowledge commits, or are assumed to. */
export function othersThatAcknowledge(situation: Situation, member: Member): number {
  return situation.members.filter((other) => other !== member && counts(situation, other, member)).length;
}

/** The member's mysqld has been unready for at least as long as a failover may take. */
export const isOverdue = (situation: Situation, member: Member): boolean =>
  isNotReadyFor(situation, member, situation.policy.failoverGraceSeconds);

function isNotReadyFor({ deadlines }: Situation, { facts }: Member, seconds: number): boolean {
  const mysqld = mysqldOf(facts);
  return mysqld !== undefined && deadlines.reached(mysqld.notReadyForSeconds, seconds);
}

/**
 * Whether the member acknowledges commits while `taken` is replaced. A report by MySQL against the member counts until
 * the progress deadline of `taken` has passed.
 */
const counts = (situation: Situation, member: Member, taken: Member): boolean =>
  member.canAcknowledge &&
  (member.participates || (isOverdue(situation, taken) && member.facts.role !== null)) &&
  (!isKnownToLack(situation, member) || isNotReadyFor(situation, taken, situation.policy.progressDeadlineSeconds));

/**
 * Whether the member's mysqld has not been ready since it started, and MOCO has given the member no role. After a
 * restart of mysqld the role label may be outdated, and MOCO sets no labels while it cannot configure another replica.
 * So after the progress deadline only readiness counts.
 */
export function hasNeverFollowed({ policy, deadlines }: Situation, { facts }: Member): boolean {
  const mysqld = mysqldOf(facts);
  if (mysqld === undefined || mysqld.readySinceRestart) return false;
  return facts.role === null || deadlines.reached(mysqld.notReadyForSeconds, policy.progressDeadlineSeconds);
}

/**
 * Whether no commit waits for this member: the primary does not participate, MOCO has not configured it since its pod
 * was created, and a failover would be over by now.
 */
function primaryLeadsNobody({ primary, snapshot, policy, deadlines }: Situation): boolean {
  if (primary?.participates) return false;
  const isConfigured = primary !== null && primary.canAcknowledge && primary.facts.role !== null;
  return (
    !isConfigured && deadlines.reached(snapshot.cluster.primaryUnavailableForSeconds ?? 0, policy.failoverGraceSeconds)
  );
}

/**
 * Whether some member serves as primary. Either the primary participates, or a replica that is not in `without`
 * participates and so shows that it follows a primary. MOCO's failover begins by stopping the I/O threads of all
 * replicas (MOCO 0.36, clustering/operations.go, failover), and no replica is ready without its I/O thread. So if a
 * replica participates, no failover is in progress. While MOCO does not reach the primary, no member counts as serving.
 * The probes of a pod are local, so the pod stays Ready when its network is cut, and for 50 s when its node has lost
 * power.
 */
export function somebodyLeads({ members, primary, snapshot }: Situation, without: readonly Member[]): boolean {
  if (unreachedPrimary(snapshot.cluster) !== null) return false;
  if (primary?.participates) return true;
  const mayServe = primary?.state === 'running' || primary?.state === 'unreachable';
  return mayServe && members.some((member) => !member.primary && member.participates && !without.includes(member));
}

/**
 * How long a member may take from its startup probe to readiness. MOCO configures the member within one pass. Without a
 * Kubernetes event, a pass begins once a minute (MOCO 0.36, clustering/manager.go).
 */
const catchUpSeconds = 90;

/**
 * How long a member that is recovering is left alone. While the startup probe of mysqld has not passed, mysqld is
 * probably recovering from a crash, and a restart would make the recovery begin again. So the member is left alone for
 * as long as its startup probe allows. MOCO takes that time from `spec.startupWaitSeconds`: an hour by default. After
 * that a restart may help. Once the startup probe has passed, MOCO makes the member follow the primary, and the member
 * catches up.
 *
 * Returns the limit in seconds, or `null` if the member is not recovering or the limit has passed.
 */
export function recoverySeconds({ policy, deadlines }: Situation, { state, facts }: Member): number | null {
  const mysqld = mysqldOf(facts);
  if (state !== 'running' || mysqld?.state !== 'running') return null;
  const graceSeconds = mysqld.started ? catchUpSeconds : (facts.startupSeconds ?? policy.progressDeadlineSeconds);
  const sinceSeconds = mysqld.started ? facts.mysqldStartedForSeconds : mysqld.notReadyForSeconds;
  return deadlines.reached(sinceSeconds, graceSeconds) ? null : graceSeconds;
}

export const isRecovering = (situation: Situation, member: Member): boolean =>
  recoverySeconds(situation, member) !== null;
