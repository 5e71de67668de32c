import type { HoldRule } from '../core/decision.ts';
import { preventDeleteAnnotation } from '../moco/names.ts';

/** What people want to know of a rule that holds a rollout. */
export interface RuleText {
  /** What is the case while it holds. */
  readonly means: string;
  /** How it ends: by itself, or by what a person does. */
  readonly ends: string;
}

/** One text for every rule there is; a rule without one does not compile. */
export const ruleTexts: Readonly<Record<HoldRule, RuleText>> = {
  SnapshotImpossible: {
    means:
      "What the API server says of the cluster's objects can't be true at once, such as two pods with one ordinal.",
    ends: "Nothing is done on facts that prove nothing. Look at the objects that the message names; if they are right, it is this program's defect.",
  },
  ClusterDeleting: {
    means: 'The MySQLCluster is being deleted, and its pods with it.',
    ends: 'When it is gone. If it stays, look at its finalizers: MOCO removes its own once it has cleaned up.',
  },
  RolloutNotOwned: {
    means:
      'The MySQLRollout has an owner reference to another MySQLCluster, as one has that was copied with its metadata. Its spec and its status may be about that cluster, so nothing is done.',
    ends: 'Remove `metadata.ownerReferences` from the MySQLRollout to keep its spec, or delete it: the controller then makes a new one. Where a MySQLCluster was deleted and created again, the garbage collector of Kubernetes deletes the old MySQLRollout within seconds.',
  },
  RolloutTerminating: {
    means:
      'Somebody has deleted the MySQLRollout, and a finalizer keeps it. What is written down in it is lost when it goes, so no step is begun.',
    ends: 'When the MySQLRollout is gone: the controller then makes a new one, without the spec of the old one. The message names the finalizers; whoever has set them removes them.',
  },
  DefinitionOutdated: {
    means:
      'The API server leaves out what the controller writes down in the status of a MySQLRollout, since the CRD is that of an older version. A step that is written down nowhere could be done twice, so none is done.',
    ends: "Apply the CRDs of the controller's version: `kubectl apply --server-side -k config/crd`, or what installed it. It is looked at every 30 seconds.",
  },
  PolicyUnknown: {
    means:
      "What people want of this cluster can't be read: a value out of its range, or two MySQLRolloutPolicies of the same weight. Nothing is done on the defaults then, since somebody has said something else.",
    ends: 'Correct the field that the message names, in the MySQLRollout or the MySQLRolloutPolicy.',
  },
  StatefulSetMissing: {
    means: 'The MySQLCluster has no StatefulSet.',
    ends: 'By itself: MOCO is making it, or making it anew for another volume template. If it stays away, look at the log of moco-controller.',
  },
  StatefulSetDeleting: {
    means: 'MOCO is re-creating the StatefulSet, as it does for another volume template. The pods stay.',
    ends: 'By itself, once the new one is there.',
  },
  StatefulSetNotObserved: {
    means:
      'Kubernetes has not yet looked at the newest StatefulSet, so that the update revision may be of the one before.',
    ends: 'By itself within moments. If not, look whether kube-controller-manager runs.',
  },
  AwaitingOwnWrite: {
    means: 'The controller has done a step and does not see its effect yet.',
    ends: 'By itself within moments; after 30 seconds it reads past its cache.',
  },
  HandedBack: {
    means: 'A person has given the cluster back to rolling updates by partition. The controller leaves it alone.',
    ends: 'By `take`, or by writing `strategy: OnDelete` into the spec of the MySQLRollout.',
  },
  ReconciliationStopped: {
    means:
      "MOCO's reconciliation of this cluster is stopped by an annotation. This program keeps its hands off as well.",
    ends: 'Take the annotation off the MySQLCluster: kubectl moco start reconciliation NAME.',
  },
  ClusteringStopped: {
    means: "MOCO's clustering is stopped by an annotation: nobody would switch over or fail over.",
    ends: 'Take the annotation off the MySQLCluster: kubectl moco start clustering NAME.',
  },
  Offline: {
    means: 'The cluster is offline: somebody wants it to have no pods.',
    ends: 'Set `spec.offline: false` in the MySQLCluster.',
  },
  ForcedRollingUpdate: {
    means:
      'The annotation force-rolling-update is on the MySQLCluster or still on its StatefulSet: Kubernetes replaces the pods itself, one after another, whatever state the database is in.',
    ends: 'Take the annotation off the MySQLCluster; this program goes on from whatever is stale.',
  },
  AdmissionNotInForce: {
    means:
      "The controller sent a dry run to the API server, and it did not come back as MOCO's next write has to: at OnDelete with the label, or, with the own partition driver, with partition = replicas. The message says what came back. Nothing was written; MOCO goes on without this program.",
    ends: 'Install what the strategy needs: config/admission-policy from Kubernetes 1.36 on, config/webhook before that, config/partition-driver for the own partition driver. The controller asks again after 30 seconds, then more rarely, and at least every 5 minutes.',
  },
  StrategyNotOnDelete: {
    means:
      "The StatefulSet is to be at OnDelete and is not. The controller is about to adopt it, or has done so lately: one that keeps coming back to RollingUpdate is adopted at most once every 30 seconds, then more rarely. MOCO's partition controller goes on meanwhile.",
    ends: 'By itself. If it keeps coming back, admission is unavailable at times, or somebody else writes the strategy: kubectl get statefulset NAME -o yaml --show-managed-fields.',
  },
  HandBackUnsafe: {
    means:
      'A hand-back was tried without being carried out, and the StatefulSet would not have come out with a partition that takes nobody: Kubernetes would begin to replace pods at once.',
    ends: "Look at what the message says came out. MOCO's webhook has to be reachable; the controller tries again every 10 seconds.",
  },
  Paused: {
    means: 'Somebody has paused the rollout, in the MySQLRollout or in a MySQLRolloutPolicy.',
    ends: 'By `resume`. With `repairWhilePaused: true` members that are down are replaced all the same.',
  },
  RevisionFlapping: {
    means: 'More than three update revisions came within ten minutes: two writers seem to fight over the pod template.',
    ends: 'By itself once ten minutes go by with fewer. Find the other writer: kubectl get mysqlcluster NAME -o yaml --show-managed-fields.',
  },
  NotReconciled: {
    means: 'MOCO has not applied the newest MySQLCluster yet, so that the template may still change.',
    ends: 'By itself. If not, look at condition ReconcileSuccess of the MySQLCluster and at the log of moco-controller.',
  },
  NotInitialized: {
    means: 'The cluster is cloning, restoring, or has never started. Taking a member would make it begin again.',
    ends: 'By itself, once MOCO sets condition Initialized. Members that are down are replaced all the same.',
  },
  MemberMissing: {
    means:
      "A member's pod does not exist, and its state after the restart is unknown. MOCO does not fail over while a pod is missing, so no other member is deleted, not even one that is down.",
    ends: "By itself. If not, the message has the StatefulSet controller's reason, such as a quota or an admission webhook.",
  },
  Scaling: {
    means: 'The number of members is changing. Scaling comes before updating.',
    ends: 'By itself, once there are as many pods as are wanted.',
  },
  UpdateRevisionFailing: {
    means:
      'A member came up at the new revision and does not work for a reason that the revision can cause, and no other has shown that it can. Nobody else gets it. A slow image pull is no such reason before progressDeadlineSeconds.',
    ends: 'Correct the MySQLCluster: the member that failed gets the new template first. `undo NAME` says what to put back.',
  },
  AwaitingSwitchover: {
    means: 'The controller has asked MOCO to move the primary away from this member, the last stale one.',
    ends: 'By itself, or after switchoverTimeoutSeconds, when the request is taken back. Each try of MOCO blocks writes for a while.',
  },
  SwitchoverInProgress: {
    means: 'The primary is moving, because somebody else has demoted it or because it is terminating.',
    ends: 'By itself, once MOCO has finished.',
  },
  ForeignDemote: {
    means: 'A member carries the annotation demote, which this controller did not set, and nothing comes of it.',
    ends: 'Take the annotation off the pod, if nobody needs it: it would demote the member the moment it is promoted.',
  },
  RolesNotSettled: {
    means: 'MOCO has not finished with the roles of these members: labels, replication, and last of all writes.',
    ends: 'By itself; where MOCO calls the cluster Healthy and gives a replica no role, once that has taken part for failoverGraceSeconds. If not, look at the log of moco-controller and at kubectl describe mysqlcluster NAME.',
  },
  MemberProtected: {
    means:
      'The pod carries the annotation prevent-delete. MOCO puts it on the primary while a replica lags too far behind, and a failover can leave it on the primary of before. The API server refuses to delete the pod, and an eviction would leave it in Terminating.',
    ends: `By itself, once no replica lags: MOCO then takes the annotation off every pod. Where MOCO did not set it, take it off: kubectl annotate pod POD ${preventDeleteAnnotation}-.`,
  },
  MemberUnreachable: {
    means: 'The node of a member does not answer. Its mysqld may still be at work.',
    ends: 'When the node comes back, or somebody removes it: kubectl delete node NAME once it is certain that it is off.',
  },
  AwaitingFailover: {
    means: 'The primary does not participate. MOCO has its time for a failover, and needs the replicas for it.',
    ends: 'By the failover, or after failoverGraceSeconds, when replicas that may be in its way are restarted.',
  },
  AwaitingRecovery: {
    means:
      'A member runs without participating, and no other may go. Where its startup probe has not passed since mysqld started, it most likely recovers after a crash, and a restart would have that begin anew.',
    ends: 'When it has recovered, or after the time that the message names, when it is restarted: progressDeadlineSeconds where it recovers, else failoverGraceSeconds.',
  },
  AwaitingFleetSlot: {
    means: 'As many clusters are rolling as may be at a time (--max-concurrent-rollouts).',
    ends: 'By itself, when another one is done. A stalled rollout keeps its slot until a person has seen to it, unless the controller runs with --release-stalled-slots. Members that are down need no slot.',
  },
  AwaitingFleetInterval: {
    means:
      'The last disruption in the whole fleet is not long enough ago (--disruption-interval, --partition-update-interval).',
    ends: 'By itself, when the time is over.',
  },
  MemberDownOutOfTurn: {
    means:
      'A member does not work, and partitions reach it only after another one: a StatefulSet replaces its pods from the highest ordinal down.',
    ends: 'By the command that the message names, or when the member recovers.',
  },
  AwaitingMoco: {
    means: "MOCO's own partition controller is about to lower the partition. It looks every 10 to 30 seconds.",
    ends: "By itself, in MOCO's own time.",
  },
  MemberLeaving: {
    means: 'A member is terminating. Its pod has up to its grace period (MOCO: 300 seconds).',
    ends: 'By itself, when the pod is gone and the new one is there.',
  },
  MemberStuckTerminating: {
    means: 'A member is still terminating after its grace period.',
    ends: 'Look at its node, its finalizers, and the annotation prevent-delete. Deleting it by force may leave two mysqld with one volume.',
  },
  NotEnoughAcknowledging: {
    means:
      'Without this member too few are known to acknowledge commits, and writes could stop. Of the others only those that participate count: one that is behind looks like one whose replication is broken.',
    ends: 'By itself, when another member recovers or the primary participates again. Once this member has not participated for failoverGraceSeconds, running members that carry the role label of MOCO count as well.',
  },
  BackupRunning: {
    means: 'A backup is running. A disruption might break it off.',
    ends: 'By itself, when the backup is done.',
  },
  UpdatedMemberNotParticipating: {
    means: 'A member is updated and has still to participate, to get its role, or to have done so for minReadySeconds.',
    ends: 'By itself. A replica on an idle cluster takes a minute until it counts as ready. If it stays, look at its pod.',
  },
  BatchNotComplete: {
    means: 'Under OrderedReady management members go in whole batches, and one before this is not done.',
    ends: 'By itself, member by member.',
  },
  BudgetUsed: {
    means: 'As many members are away as may be (maxUnavailable), for whatever reason they are.',
    ends: 'By itself, when they participate again. If not, look at their pods.',
  },
  ClusterNotHealthy: {
    means: 'MOCO does not see every member in sync with the primary.',
    ends: 'By itself, when replication has caught up. If not, look at kubectl describe mysqlcluster NAME and at errant replicas.',
  },
  BlockedByPDB: {
    means: 'A PodDisruptionBudget does not allow an eviction now. MOCO closes its own while a backup runs.',
    ends: 'By itself, when enough pods are healthy or the backup is done. Where several budgets select the pods Kubernetes evicts none: remove all but that of MOCO.',
  },
  AwaitingApproval: {
    means: 'Only the primary is left, and `primaryUpdatePolicy: Manual` has it wait for a person.',
    ends: 'By `approve NAME`. It costs one switchover.',
  },
  PrimaryWaitsForHeld: {
    means:
      'A replica is held at the revision before. It would be older than its source, which replication does not promise to bear.',
    ends: 'By `unhold POD`.',
  },
  SwitchoverFailing: {
    means: 'MOCO did not move the primary in time, again and again. Each try blocks writes for a while.',
    ends: 'It is tried again after 5, 15 and 45 minutes, then only after `approve NAME`. Look at the log of moco-controller for what is in the way.',
  },
  PartitionReached: {
    means: 'All that may be updated is: the rest is below `partition`, or held.',
    ends: 'Lower `partition` in the MySQLRollout, or let the members go with `unhold POD`.',
  },
  ConfirmationTooSlow: {
    means:
      'Before a member is taken away everything about its cluster is read again, and this has to be done within a second. The API server took longer, so that what was read proved nothing any more, and nothing was done.',
    ends: 'By itself, once the API server answers faster. The step is tried again after 2, 4, 8 and 16 seconds, then every 30 seconds. Look at the latency of the API server and of etcd, and at the webhooks and the network between.',
  },
  StepRefused: {
    means:
      "The API server does not carry a step out, and the message has its words: an admission policy or a webhook refuses it, the controller's rights do not cover it, or the API server fails.",
    ends: 'Change what the message names. The step is tried again after 2, 4, 8 and 16 seconds, then every 30 seconds.',
  },
};
