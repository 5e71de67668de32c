import { withCluster, withMissing, withStatefulSet } from '../expected.ts';
import { type FailingMember, failingMember } from '../failing-revision.ts';
import { explainEvidence, plural, pointedOut } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { type Asked, after, asksFor, holdsIf, rule } from './rule.ts';

// Rules about a failing revision, and about clusters that are not complete yet.

/**
 * Rules about an update revision that fails where it was tried first. If the quorum is lost and the progress deadline
 * has passed, members that are down get the revision anyway.
 */
export const failing = {
  UpdateRevisionFailing: rule<FailingMember>({
    holds: ({ situation, members, effects }) => {
      const failing = failingMember(situation);
      if (failing === null) return null;
      const isRepair = members.length > 0 && effects.every(({ member }) => member?.state === 'down');
      return isRepair && quorumIsLostForGood(situation) ? null : failing;
    },
    sentence: ({ member, evidence, injected }, name) =>
      `the new revision fails on ${name(member)}: ${explainEvidence(evidence)}; ${injected === undefined ? 'no other member is updated until the template is corrected' : `admission has added container ${injected}, which is not in the template (see \`kubectl get mutatingwebhookconfigurations\`): no other member is updated until that container works`}`,
    meaning: 'A member fails at the new revision, and no member has shown that the revision works.',
    details:
      'The failure is one that the revision can cause: mysqld or a sidecar fails, or the node refuses the pod. The failure does not count if the node is away, or if the node ended the pod, for example in a shutdown or under pressure, unless the pod exceeded its own limits. The failure holds the rollout until the member works at the revision, even if its pod is recreated. No other member gets the revision. A failing sidecar is ignored if it also fails on a stale member. A slow image pull counts as a failure only after progressDeadlineSeconds. Without a quorum, members that are down get the revision after progressDeadlineSeconds.',
    endedBy: ['a person'],
    ends: 'Correct the MySQLCluster: the member that failed gets the new template first. If the message names a container that admission has added, correct that container or the webhook that adds it. `kubectl moco-rollout undo NAME` shows how to restore the previous template. If the cause is gone and the template is correct, `kubectl moco-rollout override NAME UpdateRevisionFailing` lets the rollout try again.',
    overridable: true,
    alarms: true,
    alert: 'MocoRolloutRevisionFailing',
    phase: 'Failing',
    assumed: null,
  }),
};

/**
 * Rules about a cluster that is not yet in the state that its MySQLCluster describes. Only members that are down are
 * replaced.
 */
export const unfinished = {
  NotReconciled: rule<{ readonly generation: number; readonly succeeded: number | null }>({
    holds: ({ situation }) => {
      const { generation, reconciledGeneration, succeededGeneration: succeeded } = situation.snapshot.cluster;
      return reconciledGeneration === generation && succeeded === generation ? null : { generation, succeeded };
    },
    sentence: ({ generation, succeeded }) =>
      `MOCO has not yet applied generation ${generation} of the MySQLCluster${succeeded === null || succeeded === generation ? '' : ` (it is at ${succeeded})`}`,
    meaning: 'MOCO has not applied the newest generation of the MySQLCluster yet.',
    details: 'The template may change when MOCO applies it.',
    endedBy: ['MOCO'],
    ends: 'By itself. If not, check the condition ReconcileSuccess of the MySQLCluster and the log of moco-controller.',
    brief: true,
    assumed: after('moment', (snapshot) => {
      const { generation } = snapshot.cluster;
      return withCluster(snapshot, { reconciledGeneration: generation, succeededGeneration: generation });
    }),
  }),
  NotInitialized: rule({
    holds: ({ situation }) => holdsIf(!situation.snapshot.cluster.initialized),
    sentence: () => 'the cluster is not initialized: it is cloning or restoring, or has never started',
    meaning: 'The cluster is cloning or restoring, or has never started.',
    details:
      'A clone of the whole cluster (`spec.replicationSourceSecretName`) or a restore (`spec.restore`) would start from the beginning if a member restarted. The controller only checks the condition Initialized, which MOCO keeps False until the clone or the restore is done. It does not check how far along they are, or whether a dump or a binary log can be loaded: see the logs of moco-controller and of the Job `moco-restore-NAME`.',
    endedBy: ['MOCO'],
    ends: 'By itself, once MOCO sets the condition Initialized.',
    assumed: after('member', (snapshot) => withCluster(snapshot, { initialized: true })),
  }),
  MemberMissing: rule<{
    readonly members: readonly number[];
    /**
     * The message of the StatefulSet controller's FailedCreate Event, or another reason why the pod cannot be created.
     */
    readonly message: string | null;
  }>({
    holds: (asked) => {
      const { missing, snapshot } = asked.situation;
      if (missing.length === 0 || !isMissed(asked)) return null;
      return { members: missing, message: snapshot.createFailure ?? strangerAt(missing, snapshot) };
    },
    asks: () => [{ kind: 'details', createFailure: true, contention: false }],
    sentence: ({ members, message }, name) =>
      `${members.map(name).join(', ')} ${plural(members, 'does', 'do')} not exist${message === null ? '' : `: ${pointedOut(message)}`}`,
    meaning: 'The pod of a member does not exist.',
    details:
      'The state of the member after its restart is unknown, and MOCO does not fail over while a pod is missing. So no other member is deleted, not even one that is down. Members that are down do not wait while the StatefulSet is scaled up.',
    endedBy: ['Kubernetes', 'a person'],
    ends: 'By itself. If not, the message contains the reason that the StatefulSet controller reports, such as a quota or an admission webhook.',
    brief: true,
    assumed: after('member', (snapshot, { members, message }) =>
      message === null && snapshot.statefulSet !== null
        ? { ...snapshot, members: withMissing(snapshot, members, snapshot.statefulSet.updateRevision) }
        : null,
    ),
  }),
  Scaling: rule<{ readonly wanted: number; readonly statefulSet: number; readonly pods: number }>({
    holds: ({ situation: { snapshot, replicas } }) => {
      const statefulSet = snapshot.statefulSet?.replicas ?? replicas;
      const pods = snapshot.members.filter(({ ofStatefulSet }) => ofStatefulSet).length;
      return statefulSet !== replicas || pods > replicas ? { wanted: replicas, statefulSet, pods } : null;
    },
    sentence: ({ wanted, statefulSet, pods }) =>
      `the cluster is scaling: ${wanted} replicas wanted; the StatefulSet has ${statefulSet}, and ${pods} pods exist`,
    meaning: 'The number of members is changing, and scaling comes before updating.',
    endedBy: ['MOCO', 'Kubernetes'],
    ends: 'By itself, once the wanted number of pods exists.',
    assumed: after('member', (snapshot, { wanted }) => ({
      ...withStatefulSet(snapshot, { replicas: wanted }),
      members: snapshot.members.filter(({ ordinal }) => ordinal < wanted),
    })),
  }),
};

/**
 * A pod that has the name of a missing member but that the StatefulSet does not control. The StatefulSet controller
 * cannot create its own pod while such a pod exists.
 */
function strangerAt(missing: readonly number[], { members }: ClusterSnapshot): string | null {
  const stranger = members.find(({ ordinal }) => missing.includes(ordinal));
  return stranger === undefined ? null : `the StatefulSet does not control the pod ${stranger.name}`;
}

/**
 * Whether the quorum does not come back by itself. Under OnDelete, members that are down can then get the revision
 * without any further loss.
 */
function quorumIsLostForGood({ snapshot, policy, deadlines, participating, majority }: Situation): boolean {
  if (participating >= majority || policy.mode !== 'OnDelete') return false;
  return deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds);
}

/**
 * Whether the step waits for a missing member. Every step does, with two exceptions. The deletion of members that are
 * down waits only for a pod that the StatefulSet controller should have created by now, because it may never be able to
 * (a quota or an admission policy can reject the template). A demotion waits only if the pod is known to be impossible
 * to create, because MOCO's clustering then stops until a person helps.
 */
function isMissed(asked: Asked): boolean {
  const { missing, snapshot } = asked.situation;
  const { statefulSet, createFailure } = snapshot;
  if (asksFor(asked, 'proceeds', 'ends', 'completes', 'awaitsMoco')) return true;
  if (asksFor(asked, 'keepsDemotion')) return createFailure !== null;
  return statefulSet !== null && missing.some((ordinal) => ordinal < statefulSet.replicas);
}
