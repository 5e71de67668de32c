import { moved, recovered } from '../expected.ts';
import { lacksRoleForOthers, mayKeepRolesBack, type UnsettledRoles, unsettledRoles } from '../roles.ts';
import { isStuckTerminating, terminatingMembers } from '../terminating.ts';
import { after, rule } from './rule.ts';
import { isTerminationAwaited } from './unavailable.ts';

/** The primary is moving, or MOCO has not set every role yet. */
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
    ends: 'By itself, or after switchoverTimeoutSeconds, when the controller takes its request back.',
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
      `the primary is moving away from ${name(member)}, ${terminating ? 'which is terminating' : 'which somebody else demoted'}`,
    meaning: 'The primary is terminating, or somebody else has demoted it.',
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
        ? `${name(member)} still exists after its grace period ended early; a finalizer may keep it`
        : `${name(member)} is still terminating after its grace period of ${graceSeconds} s`,
    meaning: 'A member is still terminating 30 seconds after its grace period.',
    endedBy: ['a person'],
    ends: 'Check the node, the finalizers and the annotation prevent-delete of the pod. Force deletion can leave two mysqld processes with one volume.',
    alarms: true,
    assumed: null,
  }),
  RolesNotSettled: rule<UnsettledRoles>({
    holds: (asked) => {
      const { situation } = asked;
      const isRepair = asked.members.every(mayKeepRolesBack);
      return unsettledRoles(situation, (member) => isRepair && lacksRoleForOthers(situation, member));
    },
    sentence: ({ members, unavailable }, name) =>
      unavailable
        ? `MOCO does not report the cluster as Available, although its primary ${members.map(name).join(', ')} participates`
        : `MOCO has not finished setting the roles of ${members.map(name).join(', ')}`,
    meaning: 'A participating member does not have its role yet, or the primary does not accept writes yet.',
    details:
      'MOCO sets labels, then replication, and lets writes in last. If MOCO reports the cluster as Healthy and sets no role on a replica, the wait ends once the replica has participated for failoverGraceSeconds. The wait for writes ends after failoverGraceSeconds as well.',
    endedBy: ['MOCO', 'time'],
    ends: 'By itself. If not, check the log of moco-controller and `kubectl describe mysqlcluster NAME`.',
    brief: true,
    assumed: after('switchover', recovered),
  }),
};
