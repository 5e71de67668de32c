import { changed, everyMember, handedOn, openBudgets, recovered, replaced, resized } from '../expected.ts';
import { type AwaitedResize, awaitingResize, type NeededRestart, restartNeeded } from '../in-place.ts';
import { asksForLasting } from '../replicas-behind.ts';
import { leavesQuorum, othersThatAcknowledge } from '../running-members.ts';
import { counted, explainWait, plural, type Wait, withoutFullStop } from '../sentences.ts';
import { type Member, pinnedBehind } from '../situation.ts';
import { notYetReplaced } from '../statefulset-controller.ts';
import { backups } from './backups.ts';
import { type BlockedBudget, blockedBudget, explainBudget } from './blocked-budget.ts';
import { isRevisionKnown } from './primary.ts';
import { lacksRoleForOthers, mayKeepRolesBack } from './roles.ts';
import { type Asked, after, asksFor, rule, untilOpening } from './rule.ts';
import { unavailableLimit, unavailableMembers } from './unavailable.ts';

// Rules that protect members that participate.

export const participating = {
  UpdatedMemberNotParticipating: rule<UnsettledMember>({
    holds: (asked) => unsettledMember(asked),
    sentence: ({ member, wait }, name) =>
      wait.for === 'revision'
        ? `the StatefulSet controller has not replaced ${name(member)} yet`
        : `${name(member)} is updated, but ${explainWait(wait)}`,
    meaning:
      'An updated member does not participate, does not have its role, or has participated for less than minReadySeconds.',
    details: 'In a rollout by partitions, the StatefulSet controller may not have replaced the member yet.',
    endedBy: ['the members', 'a person'],
    ends: 'By itself. A replica of an idle cluster takes a minute to become ready. If it takes longer, check the pod.',
    routine: true,
    assumed: after('member', (snapshot, { member, wait }) => {
      const behind = snapshot.members.filter(({ ordinal }) => wait.for === 'revision' && ordinal === member);
      return recovered(replaced(handedOn(snapshot, behind), behind));
    }),
  }),
  AwaitingResize: rule<AwaitedResize>({
    holds: ({ situation, members }) => awaitingResize(situation, members),
    sentence: ({ member, containers, deferred, minReadySeconds }, name) =>
      containers.length === 0
        ? `${name(member)} has been resized, but has not participated for ${minReadySeconds} s since`
        : `the kubelet has not resized ${plural(containers, 'container', 'containers')} ${containers.join(', ')} of ${name(member)} yet` +
          (deferred === null ? '' : ` and is deferring the resize (${withoutFullStop(deferred)})`),
    meaning: 'The kubelet has not given containers of a member the resources of the update revision yet.',
    details:
      'The kubelet defers a resize while its node has no room. The member is replaced after 5 minutes, or immediately if the kubelet calls the resize infeasible or reports an error.',
    endedBy: ['Kubernetes', 'time'],
    ends: 'By itself, after 5 minutes at the latest. The conditions PodResizePending and PodResizeInProgress of the pod have details.',
    assumed: after('moment', (snapshot, { member }) =>
      changed(snapshot, [{ ordinal: member }], (facts) => ({ ...facts, inPlace: resized(facts.inPlace) })),
    ),
  }),
  PrimaryWaitsForPinned: rule<{ readonly member: number; readonly pinned: readonly number[] }>({
    holds: (asked) => {
      const primary = asked.members.find((member) => member.primary);
      const pinned = pinnedBehind(asked.situation);
      return primary === undefined || pinned.length === 0 || !isRevisionKnown(asked)
        ? null
        : { member: primary.ordinal, pinned: pinned.map(({ ordinal }) => ordinal) };
    },
    sentence: ({ member, pinned }, name) =>
      `the primary ${name(member)} is waiting for ${pinned.map(name).join(', ')}, which ${plural(pinned, 'is', 'are')} pinned to the previous revision: a replica must not be older than its source`,
    meaning: 'A replica is pinned to the previous revision and would be older than its source.',
    details: 'MySQL does not support replication from a newer source to an older replica.',
    endedBy: ['a person'],
    ends: 'Run `kubectl moco-rollout unpin POD`.',
    overridable: true,
    requestedBy: '`pinnedMembers`',
    assumed: null,
  }),
  RestartNeeded: rule<NeededRestart>({
    holds: ({ situation, members: [member] }) => (member === undefined ? null : restartNeeded(situation, member)),
    sentence: ({ member, reasons, opensAt }, name) =>
      `${name(member)} can't be updated without a restart: ${reasons.map(withoutFullStop).join('; ')}` +
      (opensAt === null ? '' : `; it may restart at ${opensAt}`),
    meaning: 'A member needs a new pod, and `inPlace.mode: Only` does not replace working members.',
    details: 'The message says which fields differ, or why the running pod cannot be changed.',
    endedBy: ['a person', 'time'],
    ends: 'Run `kubectl moco-rollout approve NAME` to let this revision restart members, or `kubectl moco-rollout override NAME RestartNeeded` to allow it for a limited time. With `inPlace.restartWindows`, the hold also ends by itself when the next sufficiently long window opens.',
    overridable: true,
    requestedBy: '`inPlace.mode: Only`',
    phase: 'AwaitingApproval',
    assumed: untilOpening,
  }),
  ForeignDemote: rule<{ readonly member: number }>({
    holds: ({ situation: { members, policy, deadlines } }) => {
      // On the primary, the annotation has had no effect in time. On a replica, it takes effect once that replica is
      // promoted.
      const foreign = members.find(({ state, primary, facts: { demote, demotedFor, demoteForSeconds } }) => {
        if (!demote || demotedFor !== null || state === 'terminating') return false;
        return !primary || deadlines.reached(demoteForSeconds, policy.switchoverTimeoutSeconds);
      });
      return foreign === undefined ? null : { member: foreign.ordinal };
    },
    sentence: ({ member }, name) => `${name(member)} has a demote annotation that this controller did not set`,
    meaning: 'A member has the annotation demote, which this controller did not set and which has no effect.',
    details: 'MOCO would demote the member as soon as it became primary.',
    endedBy: ['a person'],
    ends: 'Find out who set the annotation. If no program needs it, remove it from the pod.',
    overridable: true,
    assumed: null,
  }),
  MaxUnavailableReached: rule<{ readonly unavailable: readonly number[]; readonly maxUnavailable: number }>({
    holds: (asked) => {
      const unavailable = unavailableMembers(asked);
      const maxUnavailable = unavailableLimit(asked);
      return unavailable.length < maxUnavailable ? null : { unavailable, maxUnavailable };
    },
    sentence: ({ unavailable, maxUnavailable }, name) =>
      `${unavailable.map(name).join(', ')} ${plural(unavailable, 'is', 'are')} unavailable; at most ${counted(maxUnavailable, 'member')} may be unavailable at a time`,
    meaning: 'The limit of unavailable members is reached (maxUnavailable).',
    details: 'Members that are unavailable for a reason other than the rollout count as well.',
    endedBy: ['the members'],
    ends: 'By itself, when they participate again. If they do not, check their pods.',
    brief: true,
    assumed: after('member', recovered),
  }),
  ClusterNotHealthy: rule<UnhealthyCluster>({
    holds: (asked) => clusterNotHealthy(asked),
    sentence: ({ healthy, synced, replicas }) =>
      healthy ? `only ${synced} of ${replicas} members are in sync` : 'MOCO does not report the cluster as Healthy',
    meaning: 'MOCO does not report the cluster as Healthy, or does not report every member as in sync.',
    endedBy: ['MOCO'],
    ends: 'By itself, when replication has caught up. If not, check `kubectl describe mysqlcluster NAME` and errant replicas.',
    brief: true,
    assumed: after('member', recovered),
  }),
  ...backups,
  BlockedByPDB: rule<BlockedBudget>({
    holds: ({ situation }) => blockedBudget(situation),
    sentence: explainBudget,
    meaning: 'A PodDisruptionBudget does not currently allow the eviction.',
    details:
      'The budget is closed, used up, or not observed yet; it has refused an eviction; Kubernetes cannot count its pods; or several budgets select the pods. MOCO closes its own budget, `moco-NAME`, while a scheduled backup runs, and overriding `BackupRunning` does not open it. Other budgets have nothing to do with backups.',
    endedBy: ['Kubernetes', 'MOCO', 'a person'],
    ends: 'By itself, when enough pods are healthy or the backup is done. If MOCO did not create the budget, its owner has to change it. If several budgets select the pods, Kubernetes evicts none of them: remove all budgets except the one of MOCO. If Kubernetes cannot count the pods of the budget, the message says why: often it selects a pod that another controller owns, or none. Remove the labels of the members from that pod.',
    alert: 'MocoRolloutBlockedByPDB',
    assumed: after('moment', (snapshot, { cause }) =>
      cause === 'several' || cause === 'closedByOthers' || cause === 'syncFailed'
        ? null
        : { ...snapshot, budgets: openBudgets(snapshot) },
    ),
  }),
  MemberProtected: rule<{ readonly member: number }>({
    holds: ({ members }) => {
      const member = members.find(({ facts }) => facts.preventDelete);
      return member === undefined ? null : { member: member.ordinal };
    },
    sentence: ({ member }, name) =>
      `${name(member)} has MOCO's annotation prevent-delete, which MOCO sets while a replica lags: the pod can't be deleted`,
    meaning: "The pod has MOCO's annotation prevent-delete, and no other member may be replaced.",
    details:
      'MOCO sets the annotation on the primary while a replica lags too far behind, and a failover can leave it on the previous primary. The API server refuses to delete the pod, and an eviction would leave the pod in the state Terminating.',
    endedBy: ['MOCO', 'a person'],
    ends: 'By itself, once no replica lags: MOCO then removes the annotation from every pod. If MOCO did not set the annotation, remove it: `kubectl describe pod POD` shows its full name.',
    assumed: after('moment', (snapshot) => everyMember(snapshot, (member) => ({ ...member, preventDelete: false }))),
  }),
  NotEnoughAcknowledging: rule<{ readonly member: number; readonly others: number; readonly needed: number }>({
    holds: ({ situation, members }) => {
      const member = members.find(({ state, primary }) => state === 'running' && !primary);
      return member === undefined || leavesQuorum(situation, member)
        ? null
        : { member: member.ordinal, others: othersThatAcknowledge(situation, member), needed: situation.majority };
    },
    asks: (_, situation) => asksForLasting(situation),
    sentence: ({ member, others, needed }, name) =>
      `without ${name(member)}, ${others} ${others === 1 ? 'member is' : 'members are'} known to be able to acknowledge commits; ${needed} are needed, including the primary`,
    meaning:
      'Without this member, too few other members are known to be able to acknowledge commits, so writes could stop.',
    details:
      "Only other members that participate are counted: a member that is behind looks like one with broken replication. Once this member has not participated for failoverGraceSeconds, running members with MOCO's role label are counted as well. With the feature gate ReplicationFacts a replica is not counted if MySQL's last answer says that the replica has not received what the primary had committed, that its receiver is not running, or that it acknowledges nothing; this lasts for at most progressDeadlineSeconds since this member was ready.",
    endedBy: ['the members', 'time'],
    ends: 'By itself, when another member recovers or the primary participates again. Answers from MySQL are disregarded after progressDeadlineSeconds.',
    assumed: after('member', recovered),
  }),
};

interface UnsettledMember {
  readonly member: number;
  readonly wait: Wait;
}

/**
 * The first updated member that is not settled or has not participated for minReadySeconds. With a budget above 1, a
 * member that is still starting does not block the step, but merely uses up part of the budget. A failing member still
 * blocks the rollout, and so does a member with containers that restart in place. The rollout does not end before all
 * updated members have settled. While no member participates, none can settle.
 */
function unsettledMember(asked: Asked): UnsettledMember | null {
  const { situation, members: taken } = asked;
  const { members, budget, policy, participating } = situation;
  if (asksFor(asked, 'stops') && participating === 0) return null;
  const byMoco = asksFor(asked, 'mocoTakes');
  const isRepair = taken.length > 0 && taken.every(mayKeepRolesBack);
  const owing = members.find((member) => {
    const { unsettled, state, crashLoop } = member;
    if (unsettled === null) return false;
    if (byMoco) return !taken.includes(member) && unsettled.for !== 'role';
    if (isRepair && lacksRoleForOthers(situation, member)) return false;
    return (
      budget === 1 || asksFor(asked, 'ends') || state === 'down' || crashLoop !== null || unsettled.for === 'containers'
    );
  });
  if (owing?.unsettled) return { member: owing.ordinal, wait: owing.unsettled };
  const behind = policy.mode === 'OnDelete' ? null : notYetReplaced(situation);
  return behind === null ? null : { member: behind.ordinal, wait: { for: 'revision' } };
}

interface UnhealthyCluster {
  readonly healthy: boolean;
  readonly synced: number;
  readonly replicas: number;
}

/**
 * What MOCO reports, if it blocks the step; otherwise `null`. MOCO has to report every member as in sync. With a budget
 * above 1, members that this rollout is replacing may be missing, as long as the cluster is available. If MOCO's
 * partition controller replaces the member, only `Healthy` is required, and only if the member is ready.
 */
function clusterNotHealthy(asked: Asked): UnhealthyCluster | null {
  const { snapshot, members, missing, replicas, budget } = asked.situation;
  const { healthy, available, syncedReplicas: synced } = snapshot.cluster;
  if (asksFor(asked, 'mocoTakes')) {
    return healthy || !asked.members.every(({ facts }) => facts.ready) ? null : { healthy, synced, replicas };
  }
  if (healthy && synced === replicas) return null;
  const onTheirWay = missing.length + members.filter(isOnItsWay).length;
  if (budget > 1 && available && onTheirWay > 0 && synced >= replicas - onTheirWay) return null;
  return { healthy, synced, replicas };
}

function isOnItsWay(member: Member): boolean {
  return member.state === 'terminating' || (member.updated && !member.participates);
}
