import { moved, recovered } from '../expected.ts';
import { mysqldOf } from '../member.ts';
import { unreachedPrimary } from '../moco-state.ts';
import type { Member, Situation } from '../situation.ts';
import { type Asked, after, asksFor, rule } from './rule.ts';
import { isStuckTerminating, isTerminationAwaited, terminatingMembers } from './unavailable.ts';

// Rules about switchovers that have not ended and role labels that MOCO has not set yet.

export const roles = {
  AwaitingSwitchover: rule<{ readonly member: number; readonly timeoutSeconds: number }>({
    holds: ({ situation: { primary, policy } }) =>
      primary !== null && primary.state !== 'terminating' && primary.facts.demote && primary.facts.demotedFor !== null
        ? { member: primary.ordinal, timeoutSeconds: policy.switchoverTimeoutSeconds }
        : null,
    sentence: ({ member, timeoutSeconds }, name) =>
      `waiting up to ${timeoutSeconds} s for MOCO to move the primary away from ${name(member)}`,
    meaning: 'The controller has asked MOCO to move the primary away from the last stale member.',
    details: 'Each attempt of MOCO blocks writes for a while.',
    endedBy: ['MOCO', 'time'],
    ends: 'By itself. After switchoverTimeoutSeconds the controller withdraws its request.',
    routine: true,
    alert: 'MocoRolloutSwitchoverSlow',
    assumed: after('switchover', (snapshot, { member }) => moved(snapshot, [member])),
  }),
  SwitchoverInProgress: rule<{ readonly member: number; readonly terminating: boolean }>({
    holds: ({ situation }) => {
      const { primary, policy, deadlines } = situation;
      if (primary === null) return null;
      const { ordinal: member, facts } = primary;
      if (primary.state === 'terminating') {
        return isStuckTerminating(situation, primary) ? null : { member, terminating: true };
      }
      if (!facts.demote || facts.demotedFor !== null) return null;
      return deadlines.reached(facts.demoteForSeconds, policy.switchoverTimeoutSeconds)
        ? null
        : { member, terminating: false };
    },
    sentence: ({ member, terminating }, name) =>
      `the primary role is moving away from ${name(member)}, ${terminating ? 'which is terminating' : 'which another client demoted'}`,
    meaning: 'The primary is terminating, or another client has demoted it.',
    endedBy: ['MOCO', 'time'],
    ends: 'By itself, once MOCO has moved the primary.',
    assumed: after('switchover', (snapshot, { member }) => moved(snapshot, [member])),
  }),
  MemberStuckTerminating: rule<{ readonly member: number; readonly graceSeconds: number }>({
    holds: (asked) => {
      const { situation } = asked;
      const stuck = terminatingMembers(situation).find((member) => isStuckTerminating(situation, member));
      if (stuck === undefined || !(stuck.primary || isTerminationAwaited(asked))) return null;
      return { member: stuck.ordinal, graceSeconds: stuck.facts.graceSeconds };
    },
    sentence: ({ member, graceSeconds }, name) =>
      graceSeconds === 0
        ? `${name(member)} still exists after its grace period ended early; a finalizer may be blocking its removal`
        : `${name(member)} is still terminating after its grace period of ${graceSeconds} s`,
    meaning: 'A member is still terminating 30 seconds after its grace period.',
    endedBy: ['a person'],
    ends: 'Check the node, the finalizers and the annotation prevent-delete of the pod. Force deletion can leave two mysqld processes on one volume.',
    alarms: true,
    assumed: null,
  }),
  RolesNotSettled: rule<UnsettledRoles>({
    holds: (asked) => {
      const { situation } = asked;
      const isRepair = asked.members.every(mayKeepRolesBack);
      const unsettled = unsettledRoles(situation, (member) => isRepair && lacksRoleForOthers(situation, member));
      return unsettled?.unavailable && isLeftToFailover(asked) ? null : unsettled;
    },
    sentence: ({ members, unavailable, state, ignored }, name) =>
      ignored
        ? `MOCO has set no role for ${members.map(name).join(', ')}, although the pod is ready, and reports the cluster as Degraded: mysqld may be hanging on commits that no replica has acknowledged`
        : unavailable
          ? `MOCO ${state ? `reports the cluster as ${state}` : 'does not report the cluster as Available'}, although its primary ${members.map(name).join(', ')} participates`
          : `MOCO has not finished setting the roles of ${members.map(name).join(', ')}`,
    meaning: 'A participating member does not have its role yet, or the primary does not accept writes yet.',
    details:
      'MOCO sets labels, then replication, and finally allows writes. If MOCO reports the cluster as Healthy but sets no role on a replica, the wait ends once the replica has participated for failoverGraceSeconds. The wait for writes also ends after failoverGraceSeconds if MOCO reports the cluster as Incomplete: MOCO can then reach the primary, and a member may have to be repaired first.',
    endedBy: ['MOCO', 'time', 'a person'],
    ends: 'By itself. If not, check the log of moco-controller and `kubectl describe mysqlcluster NAME`. If the log says `Detected a hangup replica`, delete the pod of that member: it was the primary when its network was cut, and MOCO leaves it alone while its commits wait for an acknowledgement. After the restart it may have transactions of its own; MOCO then lists it as errant.',
    brief: true,
    assumed: after('switchover', recovered),
  }),
};

// In a switchover MOCO first moves `currentPrimaryIndex`, then points the replicas to the new primary, sets the role
// labels, and finally allows writes. Until writes are allowed, no step that needs a quorum is done.

/** Members whose roles MOCO has not set yet. */
interface UnsettledRoles {
  readonly members: readonly number[];
  /** The labels are right, but MOCO does not yet report that the primary serves. */
  readonly unavailable?: true;
  /** MOCO cannot reach the primary. */
  readonly state?: 'Failed' | 'Lost';
  /** MOCO has ignored these replicas for failoverGraceSeconds, although the primary serves. */
  readonly ignored?: true;
}

/**
 * The step would restart a running replica while MOCO does not reach the primary. `FailoverUnfinished` explains that
 * wait.
 */
const isLeftToFailover = (asked: Asked): boolean =>
  unreachedPrimary(asked.situation.snapshot.cluster) !== null &&
  asksFor(asked, 'stops') &&
  asked.members.every(({ primary }) => !primary);

/**
 * The members that participate without their role, or a primary that MOCO does not report as serving; `null` if there
 * is neither. `exempt` members may lack their role. If MOCO can reach the primary but has to repair a different member,
 * it reports the cluster as Incomplete. MOCO may be unable to repair that member, so this wait has a limit.
 */
export function unsettledRoles(
  { members, primary, snapshot, policy, deadlines }: Situation,
  exempt: (member: Member) => boolean = () => false,
): UnsettledRoles | null {
  const unsettled = members.filter((member) => member.participates && !member.settled && !exempt(member));
  const { available, mocoState, primarySettledForSeconds } = snapshot.cluster;
  if (unsettled.length > 0) {
    const isLong = (seconds: number | null): boolean => deadlines.reached(seconds ?? 0, policy.failoverGraceSeconds);
    // This is the state of a primary that was cut off and waits for an acknowledgement (MOCO 0.36,
    // clustering/status.go).
    const ignored =
      mocoState === 'Degraded' &&
      isLong(primarySettledForSeconds) &&
      unsettled.every(({ facts }) => facts.role === null && isLong(facts.participatingForSeconds));
    return { members: unsettled.map(({ ordinal }) => ordinal), ...(ignored && { ignored }) };
  }
  if (available || !primary?.participates || exempt(primary)) return null;
  const unavailable = { members: [primary.ordinal], unavailable: true } as const;
  const state = unreachedPrimary(snapshot.cluster);
  if (state !== null) return { ...unavailable, state };
  const isOver = deadlines.reached(primarySettledForSeconds ?? 0, policy.failoverGraceSeconds);
  return isOver && mocoState === 'Incomplete' ? null : unavailable;
}

/**
 * Whether the member may lack its role because of other members. MOCO configures replicas in the order of their
 * ordinals, gives up at the first replica that it cannot configure, and sets the roles afterwards (MOCO 0.36,
 * clustering/operations.go, configure). So while one replica is broken, any other replica may lack its role and may not
 * even follow the primary. The repair of the broken replica does not wait for such replicas. Once nothing has changed
 * for progressDeadlineSeconds, the repair does not wait for any other running member either.
 */
export function lacksRoleForOthers({ primary, policy, deadlines, snapshot }: Situation, member: Member): boolean {
  const { participatingForSeconds, role } = member.facts;
  const waits = mayKeepRolesBack(member) || (member.participates && !member.settled);
  if (waits && deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds)) return true;
  if (role !== null || member.primary || primary?.participates !== true || !primary.settled) return false;
  const mysqld = mayKeepRolesBack(member) ? mysqldOf(member.facts) : undefined;
  return deadlines.reached(participatingForSeconds ?? mysqld?.notReadyForSeconds ?? 0, policy.failoverGraceSeconds);
}

/**
 * Whether MOCO can reach the member's mysqld although the member does not participate. MOCO may then fail to configure
 * it. MOCO skips members that are down.
 */
export const mayKeepRolesBack = ({ state, crashLoop }: Member): boolean => state === 'running' && crashLoop === null;
