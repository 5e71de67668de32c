import type { DelayReading } from '../replication-delay.ts';
import { explainWait, plural, type Wait, withoutFullStop } from '../sentences.ts';
import { type MemberName, rule } from './rule.ts';

/** What has to be true before a member that works is taken. */
export const participating = {
  UpdatedMemberNotParticipating: rule<{ readonly member: number; readonly wait: Wait }>({
    sentence: ({ member, wait }, name) =>
      wait.for === 'revision'
        ? `the StatefulSet controller has not replaced ${name(member)} yet`
        : `${name(member)} is updated, but ${explainWait(wait)}`,
    meaning:
      'An updated member does not participate, does not have its role, or has participated for less than minReadySeconds.',
    details: 'With partitions: the StatefulSet controller has not replaced the member yet.',
    endedBy: ['the members', 'a person'],
    ends: 'By itself. A replica of an idle cluster takes a minute until it is ready. If it takes longer, check the pod.',
    routine: true,
  }),
  AwaitingResize: rule<{
    readonly member: number;
    readonly containers: readonly string[];
    /** Why the kubelet defers the resize, or `null`. */
    readonly deferred: string | null;
    readonly minReadySeconds: number;
  }>({
    sentence: ({ member, containers, deferred, minReadySeconds }, name) =>
      containers.length === 0
        ? `${name(member)} has been resized, and has not participated for ${minReadySeconds} s since`
        : `the kubelet has not resized ${containers.join(', ')} of ${name(member)} yet` +
          (deferred === null ? '' : `, and defers it: ${withoutFullStop(deferred)}`),
    meaning: 'The kubelet has still to give containers of a member the resources of the update revision.',
    details:
      'It defers a resize for which its node has no room at the moment. After 5 minutes the member is replaced, as it is at once where the kubelet calls the resize infeasible or reports an error.',
    endedBy: ['Kubernetes', 'time'],
    ends: 'By itself, after 5 minutes at the latest. The conditions PodResizePending and PodResizeInProgress of the pod say more. `override NAME AwaitingResize` replaces the member without the wait.',
    overridable: true,
  }),
  ForeignDemote: rule<{ readonly member: number }>({
    sentence: ({ member }, name) => `${name(member)} has a demote annotation that this controller did not set`,
    meaning: 'A member has the annotation demote, which this controller did not set and which has no effect.',
    details: 'MOCO would demote the member as soon as it became primary.',
    endedBy: ['a person'],
    ends: 'Remove the annotation from the pod if nobody needs it.',
    overridable: true,
  }),
  MaxUnavailableReached: rule<{ readonly unavailable: readonly number[]; readonly maxUnavailable: number }>({
    sentence: ({ unavailable, maxUnavailable }, name) =>
      `${unavailable.map(name).join(', ')} ${plural(unavailable, 'is', 'are')} unavailable, and at most ${maxUnavailable} may be`,
    meaning: 'As many members are unavailable as may be (maxUnavailable).',
    details: 'Members that are unavailable for any other reason count as well.',
    endedBy: ['the members'],
    ends: 'By itself, when they participate again. If not, check their pods.',
    brief: true,
  }),
  ClusterNotHealthy: rule<{ readonly healthy: boolean; readonly synced: number; readonly replicas: number }>({
    sentence: ({ healthy, synced, replicas }) =>
      healthy ? `${synced} of ${replicas} members are in sync` : 'MOCO does not report the cluster as Healthy',
    meaning: 'MOCO does not report the cluster as Healthy with every member in sync.',
    endedBy: ['MOCO'],
    ends: 'By itself, when replication has caught up. If not, check `kubectl describe mysqlcluster NAME` and errant replicas.',
    brief: true,
  }),
  BackupRunning: rule({
    sentence: () => 'a backup is running',
    meaning: 'A backup is running, and a disruption could interrupt it.',
    endedBy: ['time'],
    ends: 'By itself, when the backup is done.',
    overridable: true,
  }),
  BlockedByPDB: rule<BlockedBudget>({
    sentence: explainBudget,
    meaning: 'A PodDisruptionBudget does not allow an eviction now.',
    details:
      'It is closed, used up, or not observed yet, it has refused an eviction, or several budgets select the pods. MOCO closes its own budget while a backup runs.',
    endedBy: ['Kubernetes', 'MOCO', 'a person'],
    ends: 'By itself, when enough pods are healthy or the backup is done. If several budgets select the pods, Kubernetes evicts none of them: remove all budgets except the one of MOCO.',
    alert: 'MocoRolloutBlockedByPDB',
  }),
  DisruptionControllerBehind: rule<{ readonly evictions: number; readonly limit: number }>({
    sentence: ({ evictions, limit }) =>
      `Kubernetes' disruption controller has not observed ${evictions} evictions of other clusters yet, and ${limit} may wait for it at a time`,
    meaning: "Kubernetes' disruption controller is behind with evictions of other clusters.",
    details:
      'It observes an eviction only while the pod terminates. If it is later than the new pod, the PodDisruptionBudget of that cluster stays closed for two minutes. So only a few evictions of the fleet wait for it at a time.',
    endedBy: ['Kubernetes'],
    ends: 'By itself, when the disruption controller has observed one of these evictions. If that takes minutes, look at kube-controller-manager.',
    overridable: true,
    routine: true,
    brief: true,
  }),
  BatchNotComplete: rule<{ readonly members: readonly number[] }>({
    sentence: ({ members }, name) =>
      `${members.map(name).join(', ')} of the previous batch ${plural(members, 'is', 'are')} not done`,
    meaning: 'Under OrderedReady management members are updated in batches, and the previous batch is not done.',
    endedBy: ['the members'],
    ends: 'By itself, member by member.',
    overridable: true,
  }),
  PrimaryWaitsForPinned: rule<{ readonly member: number; readonly pinned: readonly number[] }>({
    sentence: ({ member, pinned }, name) =>
      `the primary ${name(member)} waits for ${pinned.map(name).join(', ')}, pinned to the previous revision: a replica must not be older than its source`,
    meaning: 'A replica is pinned to the previous revision and would be older than its source.',
    details: 'MySQL does not support replication from a newer source to an older replica.',
    endedBy: ['a person'],
    ends: 'By `unpin POD`.',
    overridable: true,
    requestedBy: '`pinnedMembers`',
  }),
  AwaitingApproval: rule<{
    readonly member: number;
    readonly revision: string;
    /** The approved revision, if it is none of this cluster. */
    readonly unknown?: string;
  }>({
    sentence: ({ member, revision, unknown }, name) =>
      `the primary ${name(member)} waits for approval of revision ${revision}` +
      (unknown === undefined ? '' : `; the approved revision ${unknown} is not a revision of this cluster`),
    meaning: 'Only the primary is left, and `primaryUpdatePolicy: Manual` makes it wait for approval.',
    endedBy: ['a person'],
    ends: 'By `approve NAME`. The update costs one switchover.',
    requestedBy: '`primaryUpdatePolicy: Manual`',
    phase: 'AwaitingApproval',
  }),
  RestartNeeded: rule<{
    readonly member: number;
    readonly reasons: readonly string[];
    /** When the next window for restarts opens that is long enough, within 30 days. */
    readonly opensAt: string | null;
  }>({
    sentence: ({ member, reasons, opensAt }, name) =>
      `${name(member)} can't be updated without a restart: ${reasons.map(withoutFullStop).join('; ')}` +
      (opensAt === null ? '' : `; it may restart at ${opensAt}`),
    meaning: 'A member needs another pod, and `inPlace.mode: Only` does not replace members that work.',
    details: 'The message says which fields differ, or why the running pod can not be changed.',
    endedBy: ['a person', 'time'],
    ends: 'By `approve NAME`, which lets this revision restart members, or by `override NAME RestartNeeded` until a time. With `inPlace.restartWindows` also by itself, when the next of these windows opens that is long enough.',
    overridable: true,
    requestedBy: '`inPlace.mode: Only`',
    phase: 'AwaitingApproval',
  }),
  SwitchoverFailing: rule<{ readonly member: number; readonly tries: number; readonly retries: boolean }>({
    sentence: ({ member, tries, retries }, name) =>
      `the switchover away from ${name(member)} has failed ${tries === 1 ? 'once' : `${tries} times`}; ${retries ? 'it will be tried again' : 'it will not be tried again for this revision'}`,
    meaning: 'MOCO did not move the primary in time.',
    details: 'Each attempt blocks writes for a while.',
    endedBy: ['time', 'a person'],
    ends: 'The controller tries again after 5, 15 and 45 minutes, then only after `approve NAME`. The log of moco-controller shows what blocks the switchover.',
    overridable: true,
    alarms: true,
    phase: 'Failing',
  }),
  ReplicasBehind: rule<{
    readonly member: number;
    readonly limitSeconds: number;
    readonly graceSeconds: number;
    readonly replicas: readonly ReplicaBehind[];
  }>({
    sentence: ({ member, limitSeconds, graceSeconds, replicas }, name) =>
      `the switchover away from ${name(member)} waits until replicas are less than ${limitSeconds} s behind: ` +
      replicas.map((replica) => explainReplica(replica, graceSeconds, name)).join('; '),
    meaning: 'A replica is too far behind for a switchover, or its replication delay is unknown.',
    details:
      'MOCO blocks writes until the replica that it chooses has caught up, for up to 50 seconds a try, and until every other replica has finished the transaction that it is applying, without a limit. The controller asks the agent of every replica right before it requests a switchover. It waits for a delay that can not be read for at most replicaDelayGraceSeconds.',
    endedBy: ['the members', 'time', 'a person'],
    ends: 'By itself, when the replica has caught up: no replica may be maxReplicaDelaySeconds or more behind. Look for a long transaction or a lock in the replica. If a delay can not be read, let the controller connect to the ports health (9081) and agent-metrics (8080) of the pods.',
    overridable: true,
    brief: true,
  }),
  PartitionReached: rule<{
    readonly partition: number;
    /** Stale members below the partition. */
    readonly members: readonly number[];
    /** Stale members that are pinned. */
    readonly pinned: readonly number[];
  }>({
    sentence: ({ partition, members, pinned }, name) =>
      [
        ...(members.length > 0
          ? [`partition ${partition} keeps ${members.map(name).join(', ')} at the previous revision`]
          : []),
        ...(pinned.length > 0
          ? [`${pinned.map(name).join(', ')} ${plural(pinned, 'is', 'are')} pinned to the previous revision`]
          : []),
      ].join('; '),
    meaning: 'Only members that are pinned or below `partition` are stale.',
    endedBy: ['a person'],
    ends: 'Lower `partition` in the MySQLRollout, or run `unpin POD`.',
    requestedBy: '`partition` or `pinnedMembers`',
    phase: 'PartitionReached',
  }),
};

/** Why a switchover waits for a replica. */
export interface ReplicaBehind {
  readonly ordinal: number;
  /** `null` while it has not been asked recently. */
  readonly reading: DelayReading | null;
}

function explainReplica({ ordinal, reading }: ReplicaBehind, graceSeconds: number, name: MemberName): string {
  const replica = name(ordinal);
  switch (reading?.kind) {
    case undefined:
      return `the delay of ${replica} is not read yet`;
    case 'delay':
      return `${replica} is ${Math.floor(reading.seconds)} s behind`;
    case 'notReplicating':
      return `${replica} does not replicate (${withoutFullStop(reading.message)})`;
    case 'unknown':
      return `the delay of ${replica} can't be read (${withoutFullStop(reading.message)}), and the wait for it ends after ${graceSeconds} s`;
  }
}

interface BlockedBudget {
  readonly budget: string;
  readonly cause: 'closed' | 'used' | 'notObserved' | 'refused' | 'several';
  readonly healthy: number;
  readonly needed: number;
  readonly message: string | null;
  /** How many evictions use it up whose pods are not known to be gone; absent if there are none. */
  readonly awaiting?: number;
}

function explainBudget({ budget, cause, healthy, needed, message, awaiting }: BlockedBudget): string {
  const named = `PodDisruptionBudget ${budget}`;
  switch (cause) {
    case 'closed':
      return `${named} allows no disruption, as it does while a backup runs`;
    case 'used':
      return `${named} needs ${needed} healthy pods and has ${healthy}${awaiting === undefined ? '' : `; it still counts ${awaiting === 1 ? 'an earlier eviction' : `${awaiting} earlier evictions`}, for at most two minutes`}`;
    case 'notObserved':
      return `${named} has changed, and Kubernetes has not counted its pods again yet`;
    case 'refused':
      return `the eviction was refused: ${withoutFullStop(message ?? `${named} needs ${needed} healthy pods`)}`;
    case 'several':
      return `several PodDisruptionBudgets select the members (${budget} is one), and Kubernetes evicts no such pod`;
  }
}
