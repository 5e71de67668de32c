import { rule } from './rule.ts';

/** The primary is moving, or MOCO has not set every role yet. */
export const roles = {
  AwaitingSwitchover: rule<{ readonly member: number; readonly timeoutSeconds: number }>({
    sentence: ({ member, timeoutSeconds }, name) =>
      `waiting up to ${timeoutSeconds} s for MOCO to move the primary away from ${name(member)}`,
    meaning: 'The controller has asked MOCO to move the primary away from the last stale member.',
    details: 'Each attempt of MOCO blocks writes for a while.',
    endedBy: ['MOCO', 'time'],
    ends: 'By itself, or after switchoverTimeoutSeconds, when the controller takes its request back.',
    routine: true,
    alert: 'MocoRolloutSwitchoverSlow',
  }),
  SwitchoverInProgress: rule<{ readonly member: number; readonly terminating: boolean }>({
    sentence: ({ member, terminating }, name) =>
      `the primary is moving away from ${name(member)}, ${terminating ? 'which is terminating' : 'which somebody else demoted'}`,
    meaning: 'The primary is terminating, or somebody else has demoted it.',
    endedBy: ['MOCO', 'time'],
    ends: 'By itself, once MOCO has moved the primary.',
  }),
  RolesNotSettled: rule<{
    readonly members: readonly number[];
    /** The labels are right, and MOCO does not report yet that the primary serves. */
    readonly unavailable?: true;
  }>({
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
  }),
};
