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
  if (snapshot.cluster.available || !primary?.participates) return null;
  return deadlines.reached(snapshot.cluster.primarySettledForSeconds ?? 0, policy.failoverGraceSeconds)
    ? null
    : { members: [primary.ordinal], unavailable: true };
}

/**
 * MOCO configures replicas in the order of their ordinals, gives up at the first one that it can't configure, and sets
 * the roles afterwards (MOCO 0.36, clustering/operations.go, configure). So a replica that works may lack its role for
 * as long as another one is broken, and the repair of the broken one does not wait for the role.
 */
export function lacksRoleForOthers({ primary, policy, deadlines }: Situation, member: Member): boolean {
  const { participatingForSeconds, role } = member.facts;
  return (
    !member.primary &&
    role === null &&
    primary?.participates === true &&
    primary.settled &&
    participatingForSeconds !== null &&
    deadlines.reached(participatingForSeconds, policy.failoverGraceSeconds)
  );
}
