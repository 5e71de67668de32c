import type { FleetPlace, FleetWait } from './fleet/waits.ts';
import type { InPlaceUpdate, RestartInPlace } from './in-place-changes.ts';
import type { MocoState } from './moco-state.ts';
import type { MysqldFacts } from './mysql-versions.ts';
import type {
  AskedMember,
  CheckFacts,
  LastClone,
  MocoLease,
  MysqlReading,
  NotAsked,
  Preflight,
  Recreatable,
  ReplicationDelay,
} from './on-demand-facts.ts';

// Every fact that a decision can depend on. The compiler requires every source and every test to provide all facts.

/**
 * The facts about one cluster at one moment, in the form that `decide` needs. For example, it contains ages instead of
 * points in time.
 */
export interface ClusterSnapshot {
  readonly cluster: ClusterFacts;
  /** `null` while there is no StatefulSet, for example when MOCO re-creates it. */
  readonly statefulSet: StatefulSetFacts | null;
  /** The pods that exist, at most one for each ordinal, in ascending order. */
  readonly members: readonly MemberFacts[];
  /**
   * For each member, the last mysqld that may have started since this process began to watch the member. The member may
   * have no pod now. A member without an entry has had no such mysqld.
   */
  readonly lastRuns: readonly LastRun[];
  /** What the claims of members say about their data. If a member has no entry, its claim has not been read. */
  readonly dataRecords: readonly DataRecordFacts[];
  /** Every PodDisruptionBudget whose selector matches the members. */
  readonly budgets: readonly BudgetFacts[];
  /** How far replicas were behind when they were last asked. Only replicas that the next step depends on are asked. */
  readonly replicationDelays: readonly ReplicationDelay[];
  /** Whether moco-controller works, judged by its Lease. */
  readonly moco: MocoLease;
  /** What members themselves last answered. Only the members that the next step relies on are asked. */
  readonly memberAnswers: readonly AskedMember[];
  /** What MySQL itself last reported. `null` while the feature gate is off. */
  readonly mysql: MysqlReading | null;
  /** What the nodes of due members have found out about the update revision. `null` if `preflight` is not set. */
  readonly preflight: Preflight | null;
  /**
   * Whether pods of a preflight may exist, whatever the settings are now. Such pods are followed until none is left.
   */
  readonly preflightPodsExist: boolean;
  /**
   * The active Jobs that back up or restore this cluster. MOCO may or may not have closed the PodDisruptionBudget for
   * them.
   */
  readonly backupJobs: readonly BackupJobFacts[];
  /** Why Jobs cannot be read although the cluster has a backup policy. Otherwise `null`. */
  readonly backupsUnreadable: string | null;
  /** Repeated writes of the StatefulSet's spec that do not stop. `null` if there are none. */
  readonly contention: Contention | null;
  /**
   * The field managers that recently wrote the pod template, each with the kind of the object that it wrote. MOCO is
   * not among them.
   */
  readonly templateWriters: readonly string[];
  readonly memory: RolloutMemory;
  readonly rolloutProblem: RolloutProblem | null;
  readonly settingsProblem: string | null;
  /**
   * A policy that was deleted lately, if a setting that it decided, for example a freeze, has a different value now.
   * Otherwise `null`.
   */
  readonly policyGone: { readonly policy: string; readonly sinceSeconds: number } | null;
  /** The message of the StatefulSet's FailedCreate Event while a pod cannot be created. Otherwise `null`. */
  readonly createFailure: string | null;
  /** The user has released this cluster, and no later setting reverses that. */
  readonly released: boolean;
  /**
   * Why other clusters keep this one from beginning a rollout, the strongest reason first. Empty once the rollout has
   * begun.
   */
  readonly fleetWaits: readonly FleetWait[];
  /** The place in the queue if the cluster may not begin yet, otherwise `null`. */
  readonly fleetQueue: FleetPlace | null;
  /**
   * The minimum time between two disruptions in the fleet, and the seconds since the last disruption. `null` if there
   * is no minimum.
   */
  readonly fleetInterval: { readonly flag: string; readonly seconds: number; readonly sinceSeconds: number } | null;
  /** Evictions of other clusters that Kubernetes' disruption controller has not observed yet. */
  readonly unobservedEvictions: number;
  /** The times at which working members may be replaced. `null` if any time is allowed. */
  readonly maintenance: MaintenanceFacts | null;
  /**
   * The nodes that are being taken out of service, as far as they concern this program. `null` while it does not watch
   * nodes.
   */
  readonly nodesLeaving: NodesLeaving | null;
  /** What Prometheus last answered to each check of the user, in the order of the checks. */
  readonly checks: readonly CheckFacts[];
  readonly laterStageWaits: boolean;
  /** A problem of admission that a dry run has shown, or `null`. */
  readonly admissionProblem: AdmissionProblem | null;
  /**
   * What keeps the strategy of a StatefulSet with our label: `policy` is the API server itself, `webhook` may be
   * unavailable. `null` if no dry run has shown it yet.
   */
  readonly strategyKeeper: 'policy' | 'webhook' | null;
  /**
   * When the cluster's pods were last seen, the StatefulSet was adopted: it was at OnDelete, and admission kept it
   * there.
   */
  readonly wasAdopted: boolean;
  /** Seconds since each remembered adoption of this StatefulSet. */
  readonly adoptionAgesSeconds: readonly number[];
  /**
   * While a release may still be overwritten: the current revision before the release, and the revision that it wrote.
   */
  readonly promotion: { readonly from: string; readonly to: string } | null;
  readonly releaseRefusal: { readonly message: string; readonly sinceSeconds: number } | null;
  /** The last step, if the API server was too slow for it or did not carry it out. Otherwise `null`. */
  readonly stepFailure: StepFailure | null;
  /** The API server's message, if it refused a status because the MySQLRollout CRD is older. Otherwise `null`. */
  readonly statusRefusal: string | null;
  /** A write of this controller that the facts do not show yet, as a short name. `null` if there is none. */
  readonly ownWritePending: string | null;
}

/** Nodes that are being taken out of service and run members of any cluster. */
export interface NodesLeaving {
  readonly names: readonly string[];
  /**
   * Seconds since the last of these nodes had no member left or was no longer being taken out of service. The time
   * before the start of this process does not count. 0 while there are such nodes.
   */
  readonly overForSeconds: number;
}

/** What is known about the next 30 days. */
export interface MaintenanceFacts {
  /** The maintenance windows that have not ended, in order and not overlapping. `null` if there are none. */
  readonly windows: readonly Interval[] | null;
  /** The windows in which `inPlace.mode: Only` permits the replacement of members, in the same form as `windows`. */
  readonly restartWindows: readonly Interval[] | null;
  /** The blackouts that have not ended. */
  readonly blackouts: readonly Blackout[];
  /** How long one member is expected to be unavailable during its update. */
  readonly memberSeconds: number;
}

export interface Interval {
  readonly from: Moment;
  readonly until: Moment;
}

export interface Blackout extends Interval {
  readonly reason: string;
}

export interface Moment {
  /** Negative if the interval has ended. */
  readonly inSeconds: number;
  /** The time as text, for people. */
  readonly at: string;
}

/**
 * Either the MySQLRollout is being deleted and these finalizers block its removal, or it belongs to a different
 * MySQLCluster.
 */
export type RolloutProblem =
  | { readonly kind: 'terminating'; readonly finalizers: readonly string[] }
  | { readonly kind: 'notOwned'; readonly owner: string };

export interface AdmissionProblem {
  /** For `CurrentRevision`, the problem concerns the label for new pods. */
  readonly mode: 'OnDelete' | 'Partition' | 'CurrentRevision';
  /** What the dry run returned, as a sentence without a full stop. */
  readonly finding: string;
  /** How many times in a row the dry run has failed. */
  readonly tries: number;
  readonly sinceSeconds: number;
}

export interface StepFailure {
  /** The step, as `stepIdentity` names it. `null` if an earlier step may still happen, so that no step may be done. */
  readonly step: string | null;
  readonly cause: 'tooSlow' | 'refused';
  /** The API server's message, or the time limit that was exceeded. */
  readonly message: string;
  /** How many times in a row the step has failed, counted from 1. */
  readonly tries: number;
  readonly sinceLastTrySeconds: number;
  /** How long the API server asked the controller to wait. 0 if it did not ask for that. */
  readonly retryAfterSeconds: number;
}

export interface ClusterFacts {
  readonly deleting: boolean;
  readonly generation: number;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `status.currentPrimaryIndex`. Only this fact determines which member is primary. */
  readonly primaryIndex: number;
  readonly syncedReplicas: number;
  readonly errantOrdinals: readonly number[];
  /** `status.reconcileInfo.generation`. It advances even if the reconciliation of that generation failed. */
  readonly reconciledGeneration: number;
  /** The generation for which condition `ReconcileSuccess` is True, or `null`. */
  readonly succeededGeneration: number | null;
  readonly initialized: boolean;
  readonly available: boolean;
  readonly healthy: boolean;
  /**
   * The reason that MOCO gives for these conditions. `null` if MOCO has written no reason, or a reason that this
   * program does not know.
   */
  readonly mocoState: MocoState | null;
  readonly offline: boolean;
  readonly reconciliationStopped: boolean;
  readonly clusteringStopped: boolean;
  readonly forcedRollingUpdate: boolean;
  /**
   * `spec.replicationSourceSecretName` is set: the cluster's primary follows another database and is never opened for
   * writes.
   */
  readonly replicatesFromElsewhere: boolean;
  /** Seconds for which the member at `primaryIndex` has not participated; `null` while it participates. */
  readonly primaryUnavailableForSeconds: number | null;
  /**
   * Seconds for which the primary has participated without a break, with the role label of a primary; `null` otherwise.
   */
  readonly primarySettledForSeconds: number | null;
}

/** Writes that keep changing the spec of a StatefulSet, without end. */
export interface Contention {
  /**
   * A lower bound for the rate: 1, 10 or 100. `null` if the rate is lower than 1. Then the writes reset each partition
   * that this program sets.
   */
  readonly writesPerSecond: number | null;
  readonly managers: readonly string[];
  /**
   * The fields because of which MOCO applies the StatefulSet at each reconciliation. Empty if the reason is a different
   * one or is not known yet.
   */
  readonly fields: readonly AlteredField[];
}

/** A field of the MySQLCluster that the API server alters each time MOCO applies it to the StatefulSet. */
export interface AlteredField {
  /** The path of the field, such as `spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion`. */
  readonly path: string;
  /**
   * `added`: the API server adds the field to a value that MOCO owns as a whole. `dropped`: the API server drops the
   * field because it is empty.
   */
  readonly what: 'added' | 'dropped';
}

export type NewPods = 'UpdateRevision' | 'CurrentRevision';

export interface StatefulSetFacts {
  readonly deleting: boolean;
  readonly replicas: number;
  /**
   * `status.observedGeneration` has reached `metadata.generation`, so updateRevision belongs to the present template.
   */
  readonly observed: boolean;
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly strategy: 'OnDelete' | 'RollingUpdate';
  /** `rollingUpdate.partition`; `null` if there is none. */
  readonly partition: number | null;
  /** Annotation `force-rolling-update` has been copied to the StatefulSet. */
  readonly forcedRollingUpdate: boolean;
  /** The StatefulSet has the label by which admission keeps it at OnDelete. */
  readonly labelled: boolean;
  /**
   * Which revision new pods should get. With `CurrentRevision` our second label asks admission to keep RollingUpdate
   * with partition = replicas instead of OnDelete. `strategy` and `partition` show whether admission does that.
   */
  readonly newPods: NewPods;
  /**
   * The mysqld of the StatefulSet's template. It is the mysqld of the update revision once the template is observed.
   */
  readonly mysqld: MysqldFacts;
}

/** Facts about a member that no watch delivers. They come from the answers to questions (`questions.ts`). */
export interface AskedMemberFacts {
  /**
   * How the member can reach the update revision. `null` if it already has that revision, or while updates in place are
   * off.
   */
  readonly inPlace: InPlaceUpdate | NotAsked | null;
  /** Whether the member can be recreated at the update revision after its pod has ended. */
  readonly recreatable: Recreatable | NotAsked;
  /**
   * Why the member's node is being taken out of service, as a phrase that completes a sentence about the node, such as
   * `is cordoned`. The member then has to move anyway. `null` if the node is not being taken out of service, or if that
   * is not known.
   */
  readonly leaving: string | null;
  /** What the member's agent last reported about a clone; `null` if the agent was never asked. */
  readonly clone: LastClone | null;
  /** The version of the member's mysqld, such as `8.4.8`, according to MySQL; `null` if MySQL has not reported it. */
  readonly serverVersion: string | null;
}

export interface MemberFacts extends AskedMemberFacts {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /**
   * Label `controller-revision-hash`. Empty if the pod has no such label, or if the pod was resized for a different
   * revision.
   */
  readonly revision: string;
  /** MOCO's role label. It lags behind `primaryIndex`, and a new pod has no role label. */
  readonly role: 'primary' | 'replica' | null;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Condition Ready. */
  readonly ready: boolean;
  /** Ready is False because of a readiness gate of the pod, and not because of its containers. */
  readonly readinessGateClosed: boolean;
  /** The name of the pod's node; `null` before the pod has a node. */
  readonly node: string | null;
  /** The scheduler's message while it finds no node for the pod, otherwise `null`. */
  readonly unschedulable: string | null;
  /** Why a pod in the phase Failed has failed (`status.reason`, such as OutOfcpu or Evicted), otherwise `null`. */
  readonly failedReason: string | null;
  /**
   * The reason of the pod's condition DisruptionTarget, such as `TerminationByKubelet`, while the condition is True;
   * otherwise `null`.
   */
  readonly disruption: string | null;
  /** The pod was evicted because it used more storage than its own limits allow. */
  readonly exceededLimits: boolean;
  /** The StatefulSet controls the pod. Other pods with MOCO's labels are not members. */
  readonly ofStatefulSet: boolean;
  readonly containers: readonly ContainerFacts[];
  readonly initContainers: readonly ContainerFacts[];
  /**
   * Seconds since the deletion with this grace period was requested. The grace period becomes 0 only right before the
   * pod disappears; this is then the time since the 0 was observed. `null` if the deletion has not been requested.
   */
  readonly terminatingForSeconds: number | null;
  readonly graceSeconds: number;
  /** Seconds since container mysqld was last seen running; 0 while it runs. */
  readonly mysqldIdleForSeconds: number;
  /** Seconds since the startup probe of container mysqld was first seen to have passed; 0 before it passes. */
  readonly mysqldStartedForSeconds: number;
  /**
   * How long the startup probe of mysqld lets it start before the kubelet restarts it; `null` without a startup probe.
   */
  readonly startupSeconds: number | null;
  /**
   * Seconds for which the member has participated without a break, in any role; `null` while it does not participate.
   */
  readonly participatingForSeconds: number | null;
  /**
   * Seconds for which this pod is known to match its revision, in its label and in the resources that a resize has
   * given it. The time is derived from the objects, unless this process has seen a longer one.
   */
  readonly revisionForSeconds: number;
  readonly demote: boolean;
  /** What our mark next to `demote` says: an update revision, or `markOfLeavingNode`; `null` if there is no mark. */
  readonly demotedFor: string | null;
  /** Seconds since `demote` was set; 0 while the annotation is not set. */
  readonly demoteForSeconds: number;
  readonly preventDelete: boolean;
  readonly restartInPlace: RestartInPlace | null;
  /** The mysqld that the pod runs or is going to run. */
  readonly mysqld: MysqldFacts;
  /** In this pod, the last mysqld that has ended was killed (exit code 137). */
  readonly mysqldKilled: boolean;
}

/** A mysqld that has started on the data of a member. */
export interface DataRecord {
  readonly revision: string;
  /** The image of container mysqld at that revision; `null` if it is not known. */
  readonly image: string | null;
  /** The version of that mysqld, such as `8.4.8`; `null` if it is not known. */
  readonly version: string | null;
  /**
   * The last mysqld on the data was killed (exit code 137), and no mysqld has been ready since. So its redo log may be
   * open. A record may lack this fact, so its absence permits nothing.
   */
  readonly killed?: true;
}

export interface DataRecordFacts {
  readonly ordinal: number;
  /**
   * The newest mysqld that has started on the data, according to the claim; `null` if the claim contains no usable
   * record.
   */
  readonly record: DataRecord | null;
  /** What the claim itself shows about the data. If it shows nothing, this is left out, and only `record` counts. */
  readonly claim?: ClaimEvidence;
  /** Seconds since the claim was read or written. */
  readonly ageSeconds: number;
}

/**
 * `missing`: the API server said that the claim does not exist. `unbound`: the claim has never had a volume. Either way
 * there are no data yet. `madeForPod`: the StatefulSet controller created the claim together with the existing pod of
 * the member. So no mysqld of another pod has started on the data.
 */
export type ClaimEvidence = 'missing' | 'unbound' | 'madeForPod';

export interface LastRun extends DataRecord {
  readonly ordinal: number;
  /**
   * The member has participated since this mysqld started. So this mysqld has opened the data, however new they were.
   */
  readonly worked: boolean;
}

export interface ContainerFacts {
  readonly name: string;
  /**
   * What the container is for: `mysqld` is the database, `agent` answers the database's probes, `side` is any other.
   */
  readonly part: 'mysqld' | 'agent' | 'side';
  readonly state: 'waiting' | 'running' | 'terminated';
  /**
   * The reason of a waiting or terminated container, otherwise `null`. A waiting container has no reason until the
   * kubelet has reported it.
   */
  readonly reason: string | null;
  /** The container is running, or has run before in this pod. */
  readonly hasRun: boolean;
  /** An init container that keeps running beside the others (`restartPolicy: Always`). */
  readonly sidecar: boolean;
  /** The template of the StatefulSet does not contain the container: admission has added it to the pod. */
  readonly injected: boolean;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restarts: number;
  readonly readySinceRestart: boolean;
  /** How often the container has restarted since it was last ready, as counted by this process; 0 while it is ready. */
  readonly restartsInVain: number;
  /** Seconds for which the container has not been ready; 0 while it is ready. */
  readonly notReadyForSeconds: number;
}

export interface BudgetFacts {
  readonly name: string;
  /** `status.observedGeneration` has reached `metadata.generation`. */
  readonly observed: boolean;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  /**
   * How many evictions the budget already counts, although the evicted pods may still exist (`status.disruptedPods`).
   */
  readonly awaiting: number;
  /** `spec.maxUnavailable` is 0. */
  readonly closed: boolean;
  /** The budget has the name of MOCO's own budget, which MOCO closes while a backup runs. */
  readonly ofMoco: boolean;
  /**
   * Who owns the budget or, if it has no owner, who manages its spec, such as `managed by helm`. `null` if that is not
   * known.
   */
  readonly whose: string | null;
  /**
   * Why Kubernetes cannot count the budget's pods (condition `DisruptionAllowed`, reason `SyncFailed`); absent if it
   * can.
   */
  readonly syncFailure?: string;
  /** The API server's message if it refused an eviction and the budget has not changed since then. Otherwise `null`. */
  readonly refusal: string | null;
  readonly refusedForSeconds: number;
}

export interface BackupJobFacts {
  readonly name: string;
  /** MOCO restores the cluster with this Job. */
  readonly restores: boolean;
  /** The time as text, for people. */
  readonly startedAt: string;
  readonly activeForSeconds: number;
}

export interface RecentRevision {
  readonly ageSeconds: number;
  /** When the revision will be ten minutes old, as text for people. */
  readonly oldAt: string;
  /** A rollout to this revision has completed. */
  readonly completed: boolean;
}

export interface TakenPod {
  readonly ordinal: number;
  readonly uid: string;
  /** The step restores the previous revision of its member. */
  readonly restores: boolean;
}

/** Facts that the current objects do not show, kept in the status of the MySQLRollout. */
export interface RolloutMemory {
  /** The rule that the status shows; `null` if it shows none. */
  readonly shown: string | null;
  /** Rules that held before the current one and are not known to have ended. */
  readonly earlier: readonly string[];
  /** A member at the update revision has participated for minReadySeconds. */
  readonly verified: boolean;
  /**
   * The member that failed at the update revision, and the reason. `null` if none has failed, or once a member works at
   * the revision.
   */
  readonly failing: { readonly member: number; readonly message: string; readonly injected?: string } | null;
  /** Members that were already down when this rollout replaced them. */
  readonly takenDown: readonly number[];
  /**
   * Members that were stale when the rollout began and that no step has replaced. `null` if nothing is recorded yet.
   */
  readonly waiting: readonly number[] | null;
  /** The revision that most members had when the rollout began, or `null` if that is not known. */
  readonly from: string | null;
  /** The pods that steps have replaced. Each pod is kept in the list until its member works at the update revision. */
  readonly taken: readonly TakenPod[];
  /** Members that were recreated at the update revision without a step of this program. */
  readonly updatedOutOfBand: readonly number[];
  /**
   * Which of the members in `updatedOutOfBand` were held when they were recreated. `started` says whether their mysqld
   * has started since then, in any pod.
   */
  readonly createdWhileHeld: readonly { readonly ordinal: number; readonly started: boolean }[];
  readonly sinceProgressSeconds: number;
  /**
   * How many switchovers for this update revision have timed out. Demotions that were taken back for another reason do
   * not count.
   */
  readonly switchoverTries: number;
  /** Seconds since the last demotion that timed out was taken back. 0 if there was none. */
  readonly sinceLastTrySeconds: number;
  /** The latest update revisions, the newest last. Each revision is listed once, with the time at which it appeared. */
  readonly recentRevisions: readonly RecentRevision[];
}
