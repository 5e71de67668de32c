import { rule } from './rule.ts';

/** A member does not participate. */
export const notParticipating = {
  MemberProtected: rule<{ readonly member: number }>({
    sentence: ({ member }, name) =>
      `${name(member)} has MOCO's annotation prevent-delete, which MOCO sets while a replica lags: the pod can't be deleted`,
    meaning: "The pod has MOCO's annotation prevent-delete, and no other member may go.",
    details:
      'MOCO sets the annotation on the primary while a replica lags too far behind, and a failover can leave it on the previous primary. The API server refuses to delete the pod, and an eviction would leave it in Terminating.',
    endedBy: ['MOCO', 'a person'],
    ends: 'By itself, once no replica lags: MOCO then removes the annotation from every pod. If MOCO did not set the annotation, remove it: `kubectl describe pod POD` shows its full name.',
  }),
  AwaitingFailover: rule<{ readonly primary: number; readonly graceSeconds: number }>({
    sentence: ({ primary, graceSeconds }, name) =>
      `the primary ${name(primary)} does not participate; MOCO has ${graceSeconds} s for a failover`,
    meaning: 'The primary does not participate, and MOCO has time for a failover.',
    details:
      'MOCO needs the replicas for the failover. An ordinary switchover also passes through this state for a moment, since MOCO removes the role labels of both members.',
    endedBy: ['MOCO', 'time'],
    ends: 'By the failover, or after failoverGraceSeconds, when the controller restarts members that may block it.',
    brief: true,
  }),
  AwaitingRecovery: rule<{ readonly member: number; readonly graceSeconds: number }>({
    sentence: ({ member, graceSeconds }, name) =>
      `${name(member)} runs without participating; it has ${graceSeconds} s to recover`,
    meaning: 'A member runs without participating, and no other member may go.',
    details:
      'If the startup probe has not passed since mysqld started, mysqld is probably recovering from a crash, and a restart would make it begin again. Once it has passed, MOCO makes the member follow the primary.',
    endedBy: ['the members', 'time'],
    ends: 'When the member has recovered. Otherwise the controller restarts it after progressDeadlineSeconds if it is recovering from a crash, after 90 s if its startup probe has passed since it was last observed to start, else after failoverGraceSeconds.',
  }),
  MemberTerminating: rule<{ readonly member: number }>({
    sentence: ({ member }, name) => `${name(member)} is terminating`,
    meaning: 'A member is terminating.',
    details: 'The pod has up to its grace period. MOCO sets 300 seconds.',
    endedBy: ['Kubernetes'],
    ends: 'By itself, when the pod is gone and the new one exists.',
    routine: true,
    brief: true,
  }),
  MemberStuckTerminating: rule<{ readonly member: number; readonly graceSeconds: number }>({
    sentence: ({ member, graceSeconds }, name) =>
      graceSeconds === 0
        ? `${name(member)} still exists after its grace period ended early; a finalizer may keep it`
        : `${name(member)} is still terminating after its grace period of ${graceSeconds} s`,
    meaning: 'A member is still terminating 30 seconds after its grace period.',
    endedBy: ['a person'],
    ends: 'Check the node, the finalizers and the annotation prevent-delete of the pod. Force deletion can leave two mysqld processes with one volume.',
    alarms: true,
  }),
  NotEnoughAcknowledging: rule<{ readonly member: number; readonly others: number; readonly needed: number }>({
    sentence: ({ member, others, needed }, name) =>
      `without ${name(member)} ${others} ${others === 1 ? 'member is' : 'members are'} known to acknowledge commits, and ${needed} are needed, the primary among them`,
    meaning: 'Without this member too few others are known to acknowledge commits, and writes could stop.',
    details:
      "Of the others only those that participate count: a member that is behind looks like one with broken replication. Once this member has not participated for failoverGraceSeconds, running members with MOCO's role label count as well.",
    endedBy: ['the members', 'time'],
    ends: 'By itself, when another member recovers or the primary participates again.',
  }),
  MemberUnreachable: rule<{ readonly member: number }>({
    sentence: ({ member }, name) => `the node of ${name(member)} does not answer`,
    meaning: 'The node of a due member does not answer.',
    details:
      'Its mysqld may still be running. The member waits if it is the primary, or if another member does not participate.',
    endedBy: ['Kubernetes', 'a person'],
    ends: 'When the node comes back, or a person removes it. Run `kubectl delete node NAME` only when the node is certainly off.',
  }),
};
