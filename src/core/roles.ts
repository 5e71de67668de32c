import { mysqldOf } from './member.ts';
import type { Member, Situation } from './situation.ts';

// A switchover moves the index first, then points the replicas to the new primary, sets the role labels and lets writes
// in last. Until then no step that needs a quorum is done.

/** What MOCO has still to do about roles. */
export interface UnsettledRoles {
  readonly members: readonly number[];
  /** The labels are right, and MOCO does not report yet that the primary serves. */
  readonly unavailable?: true;
}

/**
 * Members that participate without their role, or a primary that MOCO does not report to serve; `null` if neither.
 * `exempt` are not waited for.
 */
export function unsettledRoles(
  { members, primary, snapshot, policy, deadlines }: Situation,
  exempt: (member: Member) => boolean = () => false,
): UnsettledRoles | null {
  const unsettled = members.filter((member) => member.participates && !member.settled && !exempt(member));
  if (unsettled.length > 0) return { members: unsettled.map(({ ordinal }) => ordinal) };
  if (snapshot.cluster.available || !primary?.participates || exempt(primary)) return null;
  return deadlines.reached(snapshot.cluster.primarySettledForSeconds ?? 0, policy.failoverGraceSeconds)
    ? null
    : { members: [primary.ordinal], unavailable: true };
}

/**
 * MOCO configures replicas in the order of their ordinals, gives up at the first one that it can't configure, and sets
 * the roles afterwards (MOCO 0.36, clustering/operations.go, configure). So a replica may lack its role, and may not even
 * follow, for as long as another one is broken, and the repair of the broken one does not wait for it. Nor does it wait for
 * any other member that runs, once nothing has moved for progressDeadlineSeconds.
 */
export function lacksRoleForOthers({ primary, policy, deadlines, snapshot }: Situation, member: Member): boolean {
  const { participatingForSeconds, role } = member.facts;
  const waits = mayKeepRolesBack(member) || (member.participates && !member.settled);
  if (waits && deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds)) return true;
  if (role !== null || member.primary || primary?.participates !== true || !primary.settled) return false;
  const mysqld = mayKeepRolesBack(member) ? mysqldOf(member.facts) : undefined;
  return deadlines.reached(participatingForSeconds ?? mysqld?.notReadyForSeconds ?? 0, policy.failoverGraceSeconds);
}

/** MOCO reaches its mysqld, and it does not participate: MOCO may fail to configure it. It passes over members that are down. */
export const mayKeepRolesBack = ({ state, crashLoop }: Member): boolean => state === 'running' && crashLoop === null;
