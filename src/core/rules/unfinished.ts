import type { Evidence } from '../member.ts';
import { explainEvidence, plural } from '../sentences.ts';
import { rule } from './rule.ts';

/** The revision fails where it was tried first. Members that are down get it once the progress deadline has passed without a quorum. */
export const failing = {
  UpdateRevisionFailing: rule<{ readonly member: number; readonly evidence: Evidence }>({
    sentence: ({ member, evidence }, name) =>
      `the new revision fails on ${name(member)}: ${explainEvidence(evidence)}; no other member gets it until the template is corrected`,
    meaning: 'A member fails at the new revision, and no member has shown that the revision works.',
    details:
      'The failure is one that the revision can cause. No other member gets the revision. A slow image pull counts as a failure only after progressDeadlineSeconds. Without a quorum, members that are down get the revision after progressDeadlineSeconds.',
    endedBy: ['a person'],
    ends: 'Correct the MySQLCluster: the member that failed gets the new template first. `undo NAME` shows how to restore the previous template.',
    overridable: true,
    alarms: true,
    alert: 'MocoRolloutRevisionFailing',
    phase: 'Failing',
  }),
};

/** The cluster is not yet what its MySQLCluster asks for. Only members that are down are replaced. */
export const unfinished = {
  NotReconciled: rule<{ readonly generation: number; readonly succeeded: number | null }>({
    sentence: ({ generation, succeeded }) =>
      `MOCO has not yet applied generation ${generation} of the MySQLCluster${succeeded === null || succeeded === generation ? '' : ` (it is at ${succeeded})`}`,
    meaning: 'MOCO has not applied the newest generation of the MySQLCluster yet.',
    details: 'The template may still change.',
    endedBy: ['MOCO'],
    ends: 'By itself. If not, check condition ReconcileSuccess of the MySQLCluster and the log of moco-controller.',
    brief: true,
    keepsDemotion: true,
  }),
  NotInitialized: rule({
    sentence: () => 'the cluster is not initialized: it is cloning, restoring, or has never started',
    meaning: 'The cluster is cloning, restoring, or has never started.',
    details: 'A clone or restore would start from the beginning if a member restarted.',
    endedBy: ['MOCO'],
    ends: 'By itself, once MOCO sets condition Initialized.',
  }),
  MemberMissing: rule<{
    readonly members: readonly number[];
    /** The FailedCreate message of the StatefulSet controller. */
    readonly message: string | null;
  }>({
    sentence: ({ members, message }, name) =>
      `${members.map(name).join(', ')} ${plural(members, 'does', 'do')} not exist${message === null ? '' : `: ${message}`}`,
    meaning: 'The pod of a member does not exist.',
    details:
      'The state of the member after its restart is unknown, and MOCO does not fail over while a pod is missing. So no other member is deleted, not even one that is down. Members that are down do not wait while the StatefulSet is scaled up, nor under OrderedReady management unless the creation is known to fail.',
    endedBy: ['Kubernetes', 'a person'],
    ends: 'By itself. If not, the message has the reason of the StatefulSet controller, such as a quota or an admission webhook.',
    brief: true,
    keepsDemotion: true,
  }),
  Scaling: rule<{ readonly wanted: number; readonly statefulSet: number; readonly pods: number }>({
    sentence: ({ wanted, statefulSet, pods }) =>
      `the cluster is scaling: ${wanted} replicas wanted, the StatefulSet has ${statefulSet}, ${pods} pods exist`,
    meaning: 'The number of members is changing, and scaling comes before updating.',
    endedBy: ['MOCO', 'Kubernetes'],
    ends: 'By itself, once as many pods exist as are wanted.',
    keepsDemotion: true,
  }),
};
