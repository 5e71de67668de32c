import { mysqldOf } from './member.ts';
import { unreachedPrimary } from './moco-state.ts';
import { isKnownToLack } from './replicas-behind.ts';
import type { Member, Situation } from './situation.ts';

// Which members acknowledge commits. Nothing outside MySQL can distinguish a replica that is behind from one whose I/O
// thread is broken.

/**
 * The primary and enough other members acknowledge commits without this member. At first only participating members
 * count. Once this member has not participated for as long as a failover may take, members that MOCO has configured
 * count as well: a member that is behind looks like one with a broken I/O thread, and waiting forever would be worse.
 * Replacing a member that has probably never followed the primary loses little.
 */
export function leavesQuorum(situation: Situation, member: Member): boolean {
  if (!member.canAcknowledge) return true;
  const { primary, majority } = situation;
  if (isOverdue(situation, member) && hasNeverFollowed(situation, member)) return true;
  if (primaryLeadsNobody(situation)) return true;
  return primary !== null && counts(situation, primary, member) && othersThatAcknowledge(situation, member) >= majority;
}

/** How many other members acknowledge commits, as far as is known. */
export function othersThatAcknowledge(situation: Situation, member: Member): number {
  return situation.members.filter((other) => other !== member && counts(situation, other, member)).length;
}

/** Its mysqld has not been ready for as long as a failover may take. */
export const isOverdue = (situation: Situation, member: Member): boolean =>
  isNotReadyFor(situation, member, situation.policy.failoverGraceSeconds);

function isNotReadyFor({ deadlines }: Situation, { facts }: Member, seconds: number): boolean {
  const mysqld = mysqldOf(facts);
  return mysqld !== undefined && deadlines.reached(mysqld.notReadyForSeconds, seconds);
}

/**
 * Whether the member acknowledges commits while `taken` is replaced. What MySQL reports against it counts until the
 * progress deadline of `taken`.
 */
const counts = (situation: Situation, member: Member, taken: Member): boolean =>
  member.canAcknowledge &&
  (member.participates || (isOverdue(situation, taken) && member.facts.role !== null)) &&
  (!isKnownToLack(situation, member) || isNotReadyFor(situation, taken, situation.policy.progressDeadlineSeconds));

/**
 * Its mysqld has not been ready since it started, and MOCO has given it no role. After a restart of mysqld the label
 * may be outdated, and MOCO sets none while it cannot configure another replica: so after the progress deadline only
 * readiness counts.
 */
export function hasNeverFollowed({ policy, deadlines }: Situation, { facts }: Member): boolean {
  const mysqld = mysqldOf(facts);
  if (mysqld === undefined || mysqld.readySinceRestart) return false;
  return facts.role === null || deadlines.reached(mysqld.notReadyForSeconds, policy.progressDeadlineSeconds);
}

/**
 * The primary does not participate, MOCO has not configured it since its pod was created, and a failover would be over
 * by now: no commit waits for this member.
 */
function primaryLeadsNobody({ primary, snapshot, policy, deadlines }: Situation): boolean {
  if (primary?.participates) return false;
  const isConfigured = primary !== null && primary.canAcknowledge && primary.facts.role !== null;
  return (
    !isConfigured && deadlines.reached(snapshot.cluster.primaryUnavailableForSeconds ?? 0, policy.failoverGraceSeconds)
  );
}

/**
 * Some member serves as primary: the primary participates, or a replica that is not among the given ones does and so
 * follows it. MOCO's failover begins by stopping the I/O threads of all replicas (MOCO 0.36, clustering/operations.go,
 * failover), and no replica is ready without one, so no failover is in progress. While MOCO does not reach the primary,
 * no member serves: the probes of a pod are local, so it stays Ready when its network is cut, and for 50 s when its
 * node has lost power.
 */
export function somebodyLeads({ members, primary, snapshot }: Situation, without: readonly Member[]): boolean {
  if (unreachedPrimary(snapshot.cluster) !== null) return false;
  if (primary?.participates) return true;
  const mayServe = primary?.state === 'running' || primary?.state === 'unreachable';
  return mayServe && members.some((member) => !member.primary && member.participates && !without.includes(member));
}

/**
 * How long a member may take from its startup probe to readiness: MOCO configures it within one pass, and without a
 * Kubernetes event a pass begins at the next tick, once a minute (MOCO 0.36, clustering/manager.go).
 */
const catchUpSeconds = 90;

/**
 * mysqld has started but its startup probe has not passed: it is probably recovering from a crash. A restart would make
 * it begin again, so the member is left alone for as long as the probe allows, which MOCO takes from
 * `spec.startupWaitSeconds`: an hour by default. After that a restart may help. Once the startup probe has passed, MOCO
 * makes the member follow the primary, and it catches up.
 *
 * Returns how many seconds remain, or `null` if it is not recovering or the time is over.
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
